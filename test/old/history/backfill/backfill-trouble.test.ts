import { describe, expect, onTestFinished, test } from 'vitest';
import { parseArguments } from '../../../src/cli/arguments.ts';
import { parseBackfillOptions } from '../../../src/cli/backfill-options.ts';
import type { Bin } from '../../../src/contract/minutes.ts';
import { Backfill, type HistoryTask } from '../../../src/history/backfill/backfill.ts';
import { Spool } from '../../../src/history/backfill/spool.ts';
import type { Sample } from '../../../src/metrics/samples.ts';
import { RequestError } from '../../../src/runtime/errors.ts';
import { PeriodRequester } from '../../../src/services/portal/appliances/period-requester.ts';
import { temporaryDirectory } from '../../support/program.ts';
import {
  asked,
  begin,
  DAY_MS,
  finish,
  HOUR_MS,
  MINUTE_MS,
  pointsIn,
  services,
  through,
  wish,
} from './backfill-runs.ts';

describe('trouble of the service', () => {
  test('an answer that is too large is asked for in halves, and the next ones are as short at once', async () => {
    const world = await services(1);
    world.services.fail({ kind: 'status', status: 413, operation: 'cpu_utilization', times: 2 });
    const run = await begin(world, wish(temporaryDirectory(), { sinceMs: 10 * DAY_MS, series: ['cpu_utilization'] }));
    const [points] = pointsIn(await finish(world, run)).values();
    expect(points).toHaveLength((run.to - run.from) / MINUTE_MS);
    // Five days and two and a half are too long, so there are four pieces of five days each, and one of two and a half.
    expect(asked(world).map(({ status }) => status)).toEqual([413, 413, ...Array.from({ length: 8 }, () => 200)]);
  });

  test('an outage of half an hour is waited for', async () => {
    const world = await services(2);
    const run = await begin(world, wish(temporaryDirectory(), { sinceMs: DAY_MS }));
    const heal = world.services.fail({ kind: 'status', status: 503 });
    const reading = run.backfill.run(run.tasks, new AbortController().signal);
    await through(world, world.clock.sleep(HOUR_MS / 2));
    expect(asked(world).length).toBeLessThan(300);
    heal();
    await through(world, reading);
    expect(run.backfill.failures.size).toBe(0);
    expect(run.spool.done.size).toBe(6);
  });

  test('a series that fails is given up, all others are read, and the same command asks for that one again', async () => {
    const world = await services(2);
    const folder = temporaryDirectory();
    const heal = world.services.fail({ kind: 'status', status: 500, operation: 'load_average' });
    const run = await begin(world, wish(folder, { sinceMs: DAY_MS }));
    expect(pointsIn(await finish(world, run)).size).toBe(2 + 2);
    expect([...run.backfill.failures.values()].map(({ message }) => message)).toEqual([
      expect.stringContaining('returned 500'),
      expect.stringContaining('returned 500'),
    ]);
    heal();
    const before = asked(world).length;
    expect(pointsIn(await finish(world, await begin(world, wish(folder, { sinceMs: DAY_MS })))).size).toBe(2 * 4 + 2);
    expect(asked(world).length - before).toBe(2);
  });

  test('a role without the right for any series ends it after some requests', async () => {
    const world = await services(12, { opsIqPremium: false });
    const run = await begin(world, wish(temporaryDirectory(), { sinceMs: DAY_MS }));
    await expect(through(world, run.backfill.run(run.tasks, new AbortController().signal))).rejects.toThrow('403');
    expect(asked(world).length).toBeLessThan(30);
  });
});

const NOW = Date.UTC(2026, 2, 2, 10);

function binOf(sample: Sample): Bin {
  return { at: (sample.at ?? 0) * 1000, samples: () => [sample] };
}

/** A backfill of one period into a folder of its own, by a clock that stands still. */
async function backfillOf(from: number, to: number) {
  const still = { now: () => NOW, monotonic: () => 0, sleep: () => Promise.resolve() };
  const spool = await Spool.open(temporaryDirectory(), { fingerprint: 'x', from, to }, new Set(['filer_a']), still);
  onTestFinished(() => spool.release());
  const parts = { binMs: MINUTE_MS, labels: {}, workers: 1, spool, clock: still, now: still.now, random: () => 0 };
  const backfill = new Backfill(parts);
  const run = (readHistory: HistoryTask['readHistory']) =>
    backfill.run([{ id: 't', readHistory } as unknown as HistoryTask], new AbortController().signal);
  return { spool, backfill, run };
}

describe('a service whose clock is ahead', () => {
  test('rejects the oldest minutes alone, which are told, and all others are read', async () => {
    const [from, to] = [NOW - 30 * DAY_MS + 10 * MINUTE_MS, NOW - 10 * MINUTE_MS];
    const { spool, backfill, run } = await backfillOf(from, to);
    const kept = NOW - 30 * DAY_MS + 12 * MINUTE_MS;
    const lookback = new PeriodRequester();
    await run(async (begin: number, end: number) => {
      const bins: Bin[] = [];
      const how = { binMs: MINUTE_MS, newestMinMs: 15 * MINUTE_MS };
      const covered = await lookback.requestPeriod('t', { from: begin, to: end }, how, async (part) => {
        if (part.from < kept) throw new RequestError('status', 'too old', { status: 422 });
        for (let time = part.from; time < part.to; time += MINUTE_MS)
          bins.push(binOf({ name: 'filer_a', labels: {}, value: 1, at: time / 1000 }));
      });
      return { bins, from: covered.from, drops: new Map() };
    });
    const { bins = 0 } = spool.done.get('t') ?? {};
    const rejected = backfill.unused.get('rejected') ?? 0;
    expect(backfill.failures.size).toBe(0);
    expect(bins + rejected).toBe((to - from) / MINUTE_MS);
    expect(rejected).toBeGreaterThanOrEqual(2);
    expect(rejected).toBeLessThan(10);
  });
});

describe('bad input', () => {
  const at = (minutes: number, value: number, name = 'filer_a'): Sample => {
    return { name, labels: {}, value, at: (NOW - MINUTE_MS * minutes) / 1000 };
  };

  async function readOf(points: readonly Sample[]) {
    const from = NOW - HOUR_MS;
    const { spool, backfill, run } = await backfillOf(from, NOW - 10 * MINUTE_MS);
    await run(() => Promise.resolve({ bins: points.map(binOf), from, drops: new Map() }));
    const lines: string[] = [];
    for (const family of spool.families) for await (const piece of spool.read(family)) lines.push(String(piece));
    return { lines: lines.join('').trimEnd().split('\n'), unused: backfill.unused, done: spool.done.get('t') };
  }

  test('is sorted, comes once, and is not taken from the future or from outside the period', async () => {
    const { lines, unused, done } = await readOf([
      ...[at(20, 2), at(30, 1), at(20, 9), at(70, 5), at(10, 6), at(3, 7), at(-60, 8)],
    ]);
    const seconds = (minutes: number) => (NOW - MINUTE_MS * minutes) / 1000;
    expect(lines).toEqual([`filer_a 1 ${seconds(30)}`, `filer_a 2 ${seconds(20)}`]);
    expect([...unused].sort()).toEqual([
      ['duplicate', 1],
      ['future', 1],
    ]);
    expect(done).toEqual({ task: 't', outcome: 'read', points: 2, bins: 2 });
  });

  test('nothing at all is history that the service does not have', async () => {
    expect((await readOf([])).done).toEqual({ task: 't', outcome: 'none', points: 0, bins: 0 });
  });
});

describe('the command line', () => {
  test('has half of the limits and all series unless it says otherwise', () => {
    expect(parseBackfillOptions(parseArguments(['--backfill', '--since', '30d']).options)).toEqual({
      sinceMs: 30 * DAY_MS,
      untilMs: 0,
      labels: undefined,
      filers: undefined,
      series: undefined,
      share: 0.5,
      folder: 'filer-exporter-backfill',
    });
  });

  test.each([
    [['--backfill'], '--backfill: expected --since with a duration such as 30d'],
    [['--backfill', '--since', '31d'], '--since: "31d" is above 30d; expected a Prometheus duration from 0s to 30d'],
    [['--backfill', '--since', '1d', '--until', '1d'], '--since: expected a time at least 15m before --until'],
    [
      ['--backfill', '--since', '1d', '--limit-share', '0%'],
      '--limit-share: 0% is not a share of the limits; expected 1% to 100%',
    ],
    [['--backfill', '--since', '1d', '--labels', '1=x'], '--labels: "1=x" has no label name'],
    [['--since', '1d'], '--since: can only be used with --backfill'],
  ])('%j is a fault', (args, message) => {
    expect(() => parseBackfillOptions(parseArguments(args).options)).toThrow(message);
  });
});

test('a request that is given up at the stop leaves what was done in the folder', async () => {
  const world = await services(1);
  const run = await begin(world, wish(temporaryDirectory(), { sinceMs: DAY_MS }));
  const stop = new AbortController();
  const lift = world.services.fail({ kind: 'hang', operation: 'cpu_utilization' });
  const reading = run.backfill.run(run.tasks, stop.signal);
  await through(world, world.clock.sleep(10_000));
  stop.abort();
  await through(world, reading);
  lift();
  expect(run.backfill.failures.size).toBe(0);
  expect([...run.spool.done.keys()].some((task) => task.includes('load_average'))).toBe(true);
  expect([...run.spool.done.keys()].some((task) => task.includes('cpu_utilization'))).toBe(false);
});
