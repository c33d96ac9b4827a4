// Only here: a clock that is set, wrong or asleep and changes what is shown.
import { expect, test } from 'vitest';
import { APPLIANCE_UP } from '../harness/names.ts';
import { HOUR, MINUTE, World } from '../harness/world.ts';

const WELL = 'gfa up, 3 filers; portal up, 3 reporting, 9 series';

test('services whose clock is an hour ahead, and then an hour behind, are up, and all that they say is shown', async () => {
  const life = await World.begin({ gfa: true, variations: { clockAheadMs: HOUR } });
  const ahead = await life.after(20 * MINUTE);
  life.act();
  life.services.vary({ clockAheadMs: -HOUR });
  expect([ahead, await life.after(30 * MINUTE)]).toEqual([WELL, WELL]);
});

test('an appliance is up with its second record, though all that the portal said was an hour ahead before', async () => {
  const life = await World.begin();
  life.services.vary({ clockAheadMs: HOUR });
  const rightAgain = life.edits({
    path: /telemetry/,
    change: (body) => {
      const { items = [] } = body as { items?: { time: number }[] };
      return { ...(body as object), items: items.map((item) => ({ ...item, time: Number(item.time) + HOUR })) };
    },
  });
  await life.passes(30 * MINUTE);
  rightAgain();
  life.services.vary({ clockAheadMs: 0 });
  const [{ serial = '' } = {}] = life.services.fleet.appliances;
  const back = life.fails({ serial, kind: 'body', body: '{"items":[]}' });
  const off = await life.passes(25 * MINUTE);
  back();
  const { scrape } = await life.passes(15 * MINUTE);
  expect([off.scrape.sum(APPLIANCE_UP), scrape.sum(APPLIANCE_UP)]).toEqual([2, 3]);
  const newest = scrape.value('filer_appliance_last_record_timestamp_seconds', { serial });
  expect(newest).toBeLessThan(life.clock.now() / 1000);
});
