// Only here: how soon an appliance that dies is down, and where that is told.
import { expect, test } from 'vitest';
import { APPLIANCE_UP, SERIES_TIME } from '../harness/names.ts';
import { HOUR, MINUTE, SECOND, type Setup, TELEMETRY, World } from '../harness/world.ts';

const failing = { kind: 'status', status: 500 } as const;

/** Beside the interval, how long it takes until all series were asked twice. */
const MODES: readonly [mode: string, intervalMs: number, knownMs: number, beginning: Setup][] = [
  [
    'with a series of another build, at a minute',
    MINUTE,
    30 * MINUTE,
    {
      series: ['cpu_utilization', 'memory_utilization', 'memory_utilization_details'],
      environment: { PORTAL_INTERVAL: '1m' },
    },
  ],
  [
    'in economy',
    5 * MINUTE,
    70 * MINUTE,
    {
      series: ['cpu_utilization', 'load_average', 'cache_utilization', 'memory_utilization'],
      environment: { PORTAL_MODE: 'economy' },
    },
  ],
];

for (const [mode, intervalMs, knownMs, beginning] of MODES) {
  test(`an appliance that dies is down with its last value, in metric, log and page, ${mode}`, async () => {
    const life = await World.begin({ ...beginning, lookMs: 15 * SECOND });
    // The judge knows one interval for all series.
    life.judge.excused.push('unasked', 'unwell', 'up', 'stale', 'costs');
    await life.clock.advance(knownMs);
    const [serial = ''] = life.serials;
    const spanMs = knownMs - 10 * MINUTE;
    const usual = life.sent.count(new RegExp(serial), spanMs);
    life.fails({ serial, ...failing });
    const since = life.log.length;
    let shown = 0;
    let now = await life.sees();
    for (let passed = 0; now.scrape.value(APPLIANCE_UP, { serial }) === 1; passed += 15 * SECOND) {
      expect(passed).toBeLessThan(3.5 * intervalMs);
      expect((await life.page('/status')).text).not.toContain('1 down');
      shown = passed;
      now = await life.passes(15 * SECOND);
    }
    expect(shown).toBeGreaterThan(1.5 * intervalMs);
    expect(now.scrape.all(SERIES_TIME, { serial, series: 'cpu_utilization' })).toHaveLength(0);
    expect(now.scrape.all('filer_appliance_cpu_utilization_ratio', { serial })).toHaveLength(0);
    const page = JSON.parse((await life.page('/api/v1/status')).text) as { appliances: { state: string }[] };
    expect(page.appliances.filter(({ state }) => state === 'up')).toHaveLength(2);
    expect(page.appliances.filter(({ state }) => state === 'down')).toHaveLength(1);
    const before = life.sent.count(new RegExp(serial));
    await life.clock.advance(spanMs);
    expect(life.sent.count(new RegExp(serial)) - before).toBeLessThanOrEqual(1.2 * usual);
    const told = life.log.slice(since);
    expect(told.map(({ msg }) => msg.split(': ')[0])).toEqual(['the appliance does not respond']);
    expect(told[0]).toMatchObject({ serial, failing: expect.any(Number), series: expect.any(Number) });
  });
}

test('an appliance of which only seldom series answer stays up, and is polled hardly more than a healthy one', async () => {
  const life = await World.begin({
    series: ['cpu_utilization', 'load_average', 'cache_utilization', 'memory_utilization'],
    environment: { PORTAL_MODE: 'economy' },
  });
  life.judge.excused.push('unasked', 'unwell', 'up', 'stale', 'costs');
  await life.clock.advance(70 * MINUTE);
  const [serial = ''] = life.serials;
  const asked = new RegExp(serial);
  // Twelve times the one, and each of the three others once.
  const usual = 12 + 3;
  const over = life.fails({ serial, operation: 'current_appliance_performance', ...failing });
  for (let look = 0; look < 40; look += 1) {
    const { scrape } = await life.passes(2 * MINUTE);
    expect(scrape.value(APPLIANCE_UP, { serial })).toBe(1);
  }
  expect(life.sent.count(asked, HOUR)).toBeLessThanOrEqual(1.2 * usual);
  over();
  life.fails({ serial, ...failing });
  const { scrape } = await life.passes(20 * MINUTE);
  expect(scrape.value(APPLIANCE_UP, { serial })).toBe(0);
});

test('a process that was paused says of no appliance that it is down before each was asked again', async () => {
  const life = await World.begin({ appliances: 12, environment: { PORTAL_INTERVAL: '1m' } });
  await life.passes(6 * MINUTE + 13 * SECOND);
  const since = life.log.length;
  // What was under way when it was paused gets no answer.
  const lost = life.fails({ operation: TELEMETRY, kind: 'hang' });
  await life.clock.advance(20 * SECOND);
  life.clock.nap(4 * MINUTE);
  lost();
  for (let looks = 0; looks < 24; looks += 1) {
    const { scrape } = await life.passes(5 * SECOND);
    expect(scrape.sum(APPLIANCE_UP)).toBe(12);
  }
  expect(life.log.slice(since).map(({ msg }) => msg.split(': ')[0])).toEqual([]);
});

test('an appliance that is dead from the start is logged once, by name, and its end once', async () => {
  const life = await World.begin({ later: true });
  const [serial = ''] = life.serials;
  const over = life.fails({ serial, ...failing });
  await life.starts();
  const { scrape } = await life.passes(40 * MINUTE);
  expect(scrape.value(APPLIANCE_UP, { serial })).toBe(0);
  over();
  await life.passes(20 * MINUTE);
  const told = life.log.filter((line) => line.serial === serial);
  expect(told.map(({ msg }) => msg.split(': ')[0])).toEqual([
    'the appliance does not respond',
    'the appliance responds',
  ]);
  expect(told[0]).toMatchObject({ filer: expect.stringMatching(/./), failing: 3, series: 3 });
  expect(life.log.filter(({ msg }) => String(msg).includes('operation'))).toEqual([]);
});

test('/data that fails once is no outage, and for three intervals is one', async () => {
  const life = await World.begin({ gfa: true, portal: false, lookMs: 15 * SECOND });
  await life.passes(10 * MINUTE);
  life.fails({ operation: 'data', times: 3, kind: 'status', status: 500 });
  for (let look = 0; look < 12; look += 1) {
    const { scrape } = await life.passes(15 * SECOND);
    expect(scrape.value('filer_api_up', { api: 'gfa' })).toBe(1);
  }
  life.fails({ operation: 'data', kind: 'status', status: 500 });
  const since = life.log.length;
  const { scrape } = await life.passes(4 * MINUTE);
  expect(scrape.value('filer_api_up', { api: 'gfa' })).toBe(0);
  expect(life.log.slice(since).map(({ msg }) => msg.split(': ')[0])).toEqual(['the API cannot be polled']);
});
