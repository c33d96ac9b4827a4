import { expect, test } from 'vitest';
import { HOUR, MINUTE } from '../harness/duration.ts';
import { Evidence, type Task } from '../harness/evidence.ts';
import { Counters, violations } from '../harness/invariants.ts';
import { ManualClock } from '../harness/manual-clock.ts';
import { Scrape } from '../harness/scrape.ts';

/* Each invariant is broken once by an exporter that is made up. Without this, an invariant that never fails could not be seen. */

const SERIAL = 's1';
const OPERATION = `/telemetry/appliances/${SERIAL}/cpu_utilization`;
const task: Task = {
  gfa: true,
  series: ['cpu_utilization'],
  intervalMs: 5 * MINUTE,
  discoveryMs: 15 * MINUTE,
  dataMs: MINUTE,
  limit: { requests: 10, windowMs: 30_000 },
};

/** An exporter of one appliance, and what was delivered to it. */
function madeUp() {
  const clock = new ManualClock();
  const evidence = new Evidence(() => clock.monotonic());
  const counters = new Counters();
  evidence.started(clock.now(), false);
  const delivers = (service: 'gfa' | 'portal', path: string, body: unknown, status = 200) =>
    evidence.take({ service, path }, { status, headers: {}, body: JSON.stringify(body), how: undefined });
  return {
    clock,
    delivers,
    delivery: () => delivers('portal', OPERATION, { items: [{ time: clock.now(), cpu_usage: '1' }] }),
    series: () =>
      `filer_appliance_series_timestamp_seconds{serial="s1",series="cpu_utilization"} ${clock.now() / 1000}`,
    /** The invariants that are broken if a scrape has these lines. */
    shows: (...lines: readonly string[]) => {
      const scrape = new Scrape(lines.join('\n'));
      const check = {
        scrape,
        task,
        evidence,
        appliancesEver: 1,
        known: [SERIAL],
        effectiveMs: task.intervalMs,
      };
      return [...violations(check), ...counters.violations(scrape)].map((violation) => violation.join(': '));
    },
  };
}

type MadeUp = ReturnType<typeof madeUp>;

const UP = ['filer_api_up{api="gfa"} 1', 'filer_api_up{api="portal"} 1', 'filer_appliance_up{serial="s1"} 1'];
const DATA = 'filer_gfa_request_timestamp_seconds 1';

test.each<[string, RegExp, (exporter: MadeUp) => readonly string[] | Promise<readonly string[]>]>([
  [
    'a value that was delivered an hour ago',
    /^stale: s1/,
    async ({ clock, delivery, series, shows }) => {
      delivery();
      const line = series();
      await clock.advance(HOUR);
      return shows(line);
    },
  ],
  ['values of a service that never responded', /^stale: \/data/, ({ shows }) => shows(DATA)],
  ['a service that is up and silent', /^up: gfa is up/, ({ shows }) => shows(...UP)],
  [
    'a portal that is up and silent',
    /^up: the portal is up/,
    ({ shows }) => shows(...UP, 'filer_appliance_info{serial="s1"} 1'),
  ],
  ['an appliance that is up and silent', /^up: s1 is up/, ({ shows }) => shows(...UP)],
  [
    'a state of an appliance while the portal is down',
    /^up: 1 appliances have a state/,
    ({ shows }) => shows('filer_api_up{api="portal"} 0', 'filer_appliance_up{serial="s1"} 0'),
  ],
  [
    'an appliance that is down, and nothing is wrong',
    /^up: s1 is down/,
    async ({ clock, delivery, series, shows }) => {
      await clock.advance(HOUR);
      delivery();
      return shows(series(), 'filer_api_up{api="portal"} 1', 'filer_appliance_up{serial="s1"} 0');
    },
  ],
  [
    'a series that is no longer requested',
    /^polled: \/telemetry/,
    async ({ clock, delivery, shows }) => {
      delivery();
      await clock.advance(HOUR);
      return shows();
    },
  ],
  [
    'a series that was delivered and is not shown',
    /^polled: s1\/cpu_utilization is not shown/,
    async ({ clock, delivery, shows }) => {
      await clock.advance(HOUR);
      delivery();
      return shows();
    },
  ],
  [
    'an event that was never delivered',
    /^counters: .* 0 were delivered/,
    ({ shows }) => shows('filer_jobs_finished_total 1'),
  ],
  [
    'a counter that falls',
    /^counters: .* fell from 2 to 1/,
    ({ shows }) => {
      shows('# TYPE x_total counter', 'x_total 2');
      return shows('# TYPE x_total counter', 'x_total 1');
    },
  ],
  [
    'a counter that leaves',
    /^counters: .* has left/,
    ({ shows }) => {
      shows('# TYPE x_total counter', 'x_total 2');
      return shows();
    },
  ],
  [
    'more requests than the limit',
    /^requests: more than 10/,
    ({ delivers, shows }) => {
      for (let sent = 0; sent < 11; sent += 1) delivers('portal', '/jobs', {});
      return shows();
    },
  ],
  [
    'more requests than health takes',
    /^requests: 70 requests of telemetry/,
    async ({ clock, delivery, shows }) => {
      for (let sent = 0; sent < 70; sent += 1) {
        delivery();
        await clock.advance(10_000);
      }
      return shows();
    },
  ],
])('the invariants find %s', async (_, violation, shows) => {
  expect(await shows(madeUp())).toContainEqual(expect.stringMatching(violation));
});

test('the invariants find nothing wrong with an exporter that does what it should', async () => {
  const { clock, delivers, delivery, series, shows } = madeUp();
  for (let minute = 0; minute < 60; minute += 1) {
    delivers('gfa', '/data', { metrics: [] });
    if (minute % 5 === 0) delivery();
    if (minute % 15 === 0) delivers('portal', '/serials?type=edge', {});
    if (minute % 5 === 0) expect(shows(series(), DATA, ...UP)).toEqual([]);
    await clock.advance(MINUTE);
  }
});
