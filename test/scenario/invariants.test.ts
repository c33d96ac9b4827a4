import { expect, test } from 'vitest';
import { Scrape } from '../harness/scrape.ts';
import { INVARIANTS } from './invariants.ts';
import { type Scenario, simulate } from './simulate.ts';

/* Each invariant is broken once on purpose: what a healthy exporter shows is changed. An invariant that never fails could not be seen. */

const CPU = '/telemetry/appliances/1/cpu_utilization';

/** Sends so many requests to the portal, beside those of the exporter. */
async function send(run: Scenario, count: number, pauseMs: number): Promise<void> {
  for (let sent = 0; sent < count; sent += 1) {
    run.respond('portal', { method: 'GET', path: CPU, headers: {}, body: '' });
    await run.clock.advance(pauseMs);
  }
}

type Change = (run: Scenario, page: string) => string | Promise<string>;

const broken: readonly (readonly [what: string, violations: readonly RegExp[], change: Change])[] = [
  [
    'an empty page, although nothing is wrong',
    [
      /^polled: \S+cpu_utilization is not shown/,
      /^polled: \/data is not shown/,
      /^up: gfa is down, and nothing is wrong/,
      /^up: the portal is down, and nothing is wrong/,
      /^up: [\w-]{36} is down, and nothing is wrong/,
      /^counters: filer_lock_events_total .* has left/,
    ],
    () => '',
  ],
  [
    'a portal that is down, with appliances that have a state',
    [/^up: 3 appliances have a state/],
    (_, page) => page.replace('filer_api_up{api="portal"} 1', 'filer_api_up{api="portal"} 0'),
  ],
  [
    'events that were never delivered',
    [/^counters: filer_lock_events_total is \d+, and \d+ were delivered/],
    (_, page) => page.replaceAll(/^(filer_lock_events_total\{.*\}) \d+$/gm, '$1 1000'),
  ],
  [
    'counters that fall',
    [/^counters: .* fell from \d+ to 0/],
    (_, page) => page.replaceAll(/^(filer_lock_events_total\{.*\}) \d+$/gm, '$1 0'),
  ],
  [
    'more requests than the limit',
    [/^requests: more than 500 requests within 30 s/],
    async (run, page) => {
      await send(run, 501, 1);
      return page;
    },
  ],
  [
    'more requests than health takes',
    [/^requests: \d+ requests of telemetry in an hour/],
    async (run, page) => {
      await send(run, 600, 100);
      return page;
    },
  ],
  [
    'a page that is an hour old, of an exporter that requests nothing',
    [
      /^stale: \S+cpu_utilization is shown/,
      /^stale: \/data is shown/,
      /^up: gfa is up, and silent/,
      /^up: the portal is up, and silent/,
      /^up: [\w-]{36} is up, and silent/,
      /^polled: \/telemetry\S+ was requested/,
      /^polled: \/serials was requested/,
      /^polled: \/data was requested/,
    ],
    async (run, page) => {
      await run.stop();
      await run.clock.advance(3_600_000);
      return page;
    },
  ],
  [
    'a log that grows, and a service that goes up and down',
    [/^log: 1\d\d lines, \d+ at most/, /^up: filer_api_up of gfa changed 4 times in 1 acts/],
    async (run, page) => {
      const [line] = run.log;
      if (line !== undefined) run.log.push(...new Array(100).fill(line));
      const down = page.replace('filer_api_up{api="gfa"} 1', 'filer_api_up{api="gfa"} 0');
      for (const text of [down, page, down, page]) run.invariants.check(new Scrape(text));
      await run.end();
      return page;
    },
  ],
];

test('the invariants find what is broken on purpose, and nothing before', async () => {
  const run = await simulate({ gfa: true });
  for (const invariant of INVARIANTS) run.allow(invariant, 'it is broken on purpose');
  const { text: page } = await run.advance('18m');
  expect(run.invariants.broken.size).toBe(0);
  for (const [what, violations, change] of broken) {
    run.invariants.broken.clear();
    run.invariants.check(new Scrape(await change(run, page)));
    const found = [...run.invariants.broken.keys()];
    for (const violation of violations) expect(found, what).toContainEqual(expect.stringMatching(violation));
  }
});
