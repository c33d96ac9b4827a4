// Only here: an appliance or a list that waits because others are slow, or many.
import { expect, test } from 'vitest';
import { APPLIANCE_UP, STATE } from '../harness/names.ts';
import { HOUR, MINUTE, SERIES, World } from '../harness/world.ts';

const CPU = 'filer_appliance_cpu_utilization_ratio';

test('a healthy appliance that fails once beside twenty that hang misses one interval and no more', async () => {
  const life = await World.begin({ appliances: 40, lookMs: 4 * MINUTE });
  await life.passes(10 * MINUTE);
  const { serials } = life;
  for (const serial of serials.slice(0, 20)) life.fails({ serial, kind: 'hang' });
  await life.passes(HOUR);
  // The judge holds that the healthy ones are asked at their interval; what hangs is asked half as often at most.
  const asked = (HOUR / (5 * MINUTE)) * SERIES.length;
  for (const serial of serials.slice(0, 20)) expect(life.sent.count(new RegExp(serial), HOUR)).toBeLessThan(asked / 2);
  const [healthy = ''] = serials.slice(20);
  life.fails({ serial: healthy, operation: 'cpu_utilization', times: 3, kind: 'status', status: 503 });
  await life.passes(12 * MINUTE);
  expect(life.sent.age(new RegExp(`${healthy}/cpu_utilization`))).toBeLessThan(6 * MINUTE);
  const { scrape } = await life.passes(5 * MINUTE);
  expect(scrape.all(CPU, { serial: healthy })).toHaveLength(1);
  for (const serial of serials.slice(20)) expect(scrape.value(APPLIANCE_UP, { serial })).toBe(1);
});

test('an appliance that hung for an hour is back within two rounds of those that hang', async () => {
  const life = await World.begin({ appliances: 8, lookMs: 4 * MINUTE });
  await life.passes(10 * MINUTE);
  const { serials } = life;
  const lifts = serials.slice(0, 4).map((serial) => life.fails({ serial, kind: 'hang' }));
  await life.passes(HOUR);
  lifts[0]?.();
  const { scrape } = await life.passes(15 * MINUTE);
  expect(scrape.all(CPU, { serial: serials[0] ?? '' })).toHaveLength(1);
});

test('an ingestion that stalls for twenty minutes is over everywhere an interval after it ends', async () => {
  const life = await World.begin({ appliances: 8, environment: { PORTAL_DISCOVERY_INTERVAL: '6h' } });
  await life.passes(10 * MINUTE);
  const on = life.off();
  const during = await life.passes(20 * MINUTE);
  expect(during.scrape.sum(STATE, { state: 'no_records' })).toBe(8);
  expect(during.scrape.sum(APPLIANCE_UP)).toBe(0);
  expect((await life.page('/status')).text).toContain('no records');
  on();
  const { scrape } = await life.passes(6 * MINUTE);
  expect(scrape.all('filer_appliance_series_timestamp_seconds')).toHaveLength(24);
  const { scrape: later } = await life.passes(4 * MINUTE);
  expect(later.sum(STATE, { state: 'reporting' })).toBe(8);
});

test('inventory and licence keep their interval where the limits allow an eighth of what is asked', async () => {
  const life = await World.begin({ appliances: 20, environment: { PORTAL_RATE_LIMIT: '8/300s' }, lookMs: 10 * MINUTE });
  await life.passes(3.5 * HOUR);
  expect(Math.max(...life.sent.pauses(/\/serials\?type=edge/))).toBeLessThan(24 * MINUTE);
  expect(Math.max(...life.sent.pauses(/\/account\/license/))).toBeLessThan(95 * MINUTE);
});

test('data that comes later than configured because of a lower limit is reported once, with how much later', async () => {
  const life = await World.begin({ appliances: 10, environment: { PORTAL_RATE_LIMIT: '8/300s' } });
  await life.passes(HOUR);
  const late = life.log.filter(({ warning }) => warning === 'late_data');
  expect(late.map(({ msg }) => String(msg))).toEqual([
    expect.stringMatching(/data comes \d+ times later than configured/),
  ]);
  expect((await life.page('/status')).text).toContain('times later than configured');
});
