// Only here: a clock that is set, wrong or asleep and changes what is shown.
import { expect, test } from 'vitest';
import { APPLIANCE_UP } from '../harness/names.ts';
import { DAY, HOUR, MINUTE, World } from '../harness/world.ts';
import { type Story, tell } from './story.ts';

const WELL = 'gfa up, 3 filers; portal up, 3 reporting, 9 series';

/** Clocks that are set, wrong or asleep. */
const clocks: readonly Story[] = [
  {
    name: 'a clock that is set back a day, and then forward a century, changes nothing that is shown',
    begins: { gfa: true },
    tells: async (life) => {
      await life.passes(10 * MINUTE);
      for (const ms of [-DAY, 36_525 * DAY]) {
        // The services have the time of their own.
        life.act();
        life.clock.step(ms);
        const after = await life.after(10 * MINUTE);
        life.expects([after, await life.after(20 * MINUTE)], [WELL, WELL]);
      }
    },
  },
  {
    name: 'a machine that begins in 1970 and gets the time after ten minutes',
    begins: { gfa: true, later: true },
    tells: async (life) => {
      const since1970 = life.clock.now();
      life.clock.step(-since1970);
      await life.starts();
      const before = await life.after(10 * MINUTE);
      life.act();
      life.clock.step(since1970);
      life.expects([before, await life.after(20 * MINUTE)], [WELL, WELL]);
    },
  },
  {
    name: 'services whose clock is an hour ahead, and then an hour behind',
    begins: { gfa: true, variations: { clockAheadMs: HOUR } },
    tells: async (life) => {
      const ahead = await life.after(20 * MINUTE);
      life.act();
      life.services.vary({ clockAheadMs: -HOUR });
      life.expects([ahead, await life.after(30 * MINUTE)], [WELL, WELL]);
    },
  },
  {
    name: 'a machine that sleeps for six hours shows nothing old when it wakes, and all again soon after',
    begins: { gfa: true },
    tells: async (life) => {
      await life.passes(10 * MINUTE);
      const awake = life.troubled({});
      life.clock.nap(6 * HOUR);
      const waking = await life.after(2_000);
      awake();
      const after = await life.after(10 * MINUTE);
      life.expects([waking, after], ['gfa up, 0 filers; portal up, 3 reporting, 0 series', WELL]);
    },
  },
];

tell(clocks);

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
