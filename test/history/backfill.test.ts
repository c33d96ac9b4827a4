import {
  appendFileSync,
  chmodSync,
  existsSync,
  linkSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { type BackfillRun, type BackfillWish, createBackfill, openMetrics } from '../../src/app/backfill.ts';
import { parseArguments } from '../../src/cli/arguments.ts';
import { wishOf } from '../../src/cli/backfill-wish.ts';
import { loadConfig } from '../../src/config/load.ts';
import type { StandIn } from '../../src/demo/stand-in.ts';
import { Backfill, type PastTask } from '../../src/history/backfill.ts';
import { Spool } from '../../src/history/spool.ts';
import type { Sample } from '../../src/metrics/samples.ts';
import { RequestError } from '../../src/runtime/errors.ts';
import { Lookback } from '../../src/sources/portal/appliances/lookback.ts';
import { STANDARD_SERIES } from '../../src/sources/portal/appliances/operations.ts';
import { upstreams } from '../../src/sources/upstreams.ts';
import { clock, network, portalEnvironment, services } from '../support/live.ts';
import { settle } from '../support/manual-clock.ts';
import { noLog } from '../support/mock-api.ts';
import { temporaryDirectory } from '../support/program.ts';
import { pointsSince } from './points.ts';

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
const MINUTE_MS = 60_000;

/** Waits for something that needs the clock and the disk. */
async function through<Value>(promise: Promise<Value>, stepMs = 200): Promise<Value> {
  let isOver = false;
  const watched = promise.finally(() => {
    isOver = true;
  });
  watched.catch(() => {});
  while (!isOver) {
    await settle();
    await clock.advance(stepMs);
  }
  return watched;
}

const environment = (standIn: StandIn) => ({
  ...portalEnvironment(standIn),
  PORTAL_SERIES: 'cpu_utilization,load_average,cow_disk_iops',
  PORTAL_COLLECTORS: 'telemetry',
});

const wish = (folder: string, more: Partial<BackfillWish> = {}): BackfillWish => ({
  ...{ sinceMs: 30 * DAY_MS, untilMs: 0, labels: { job: 'j' }, filers: undefined, series: undefined },
  ...{ share: 1, folder, ...more },
});

async function begin(standIn: StandIn, wanted: BackfillWish, more: Readonly<Record<string, string>> = {}) {
  const config = loadConfig({
    environment: { ...environment(standIn), ...more },
    readFile: () => {
      throw Object.assign(new Error('no file'), { code: 'ENOENT' });
    },
    services: upstreams.map(({ section }) => section),
  });
  const outside = {
    clock,
    random: () => 0.5,
    log: noLog,
    version: '0',
    revision: 'test',
    nodeVersion: 'v0',
    ...network,
  };
  return through(createBackfill(config, outside, wanted, new AbortController().signal));
}

async function finish(run: BackfillRun): Promise<string> {
  await through(run.backfill.run(run.tasks, new AbortController().signal));
  await through(run.close(new AbortController().signal));
  return textOf(run.spool);
}

async function textOf(spool: Spool): Promise<string> {
  const pieces: Buffer[] = [];
  for await (const piece of openMetrics(spool)) pieces.push(Buffer.from(piece));
  return Buffer.concat(pieces).toString('utf8');
}

/** Requests for series so far. */
const asked = ({ requests }: StandIn) => requests.filter(({ path }) => path.includes('/telemetry/'));

/** The points of each series, in the order in which they stand; throws where a family or a series stands in two places. */
function pointsIn(text: string): ReadonlyMap<string, readonly (readonly [seconds: number, value: number])[]> {
  const series = new Map<string, [number, number][]>();
  const families = new Set<string>();
  let last = '';
  const lines = text.split('\n');
  expect(lines.slice(-2)).toEqual(['# EOF', '']);
  for (const line of lines.slice(0, -2)) {
    if (line.startsWith('# TYPE')) {
      if (families.has(line)) throw new Error(`twice: ${line}`);
      families.add(line);
    }
    if (line.startsWith('#')) continue;
    const [, name = '', value, seconds] = /^(.*) (\S+) (\S+)$/.exec(line) ?? [];
    if (name !== last && series.has(name)) throw new Error(`in two places: ${name}`);
    last = name;
    const points = series.get(name) ?? [];
    series.set(name, points);
    points.push([Number(seconds), Number(value)]);
  }
  return series;
}

describe('what the service keeps', () => {
  test('comes minute by minute, from the oldest, five days a request, and each family stands together', async () => {
    const standIn = await services({ appliances: 1 });
    const run = await begin(standIn, wish(temporaryDirectory(), { sinceMs: 6 * DAY_MS }));
    const series = pointsIn(await finish(run));
    // One series of CPU, three of load and two of the disk.
    expect(series.size).toBe(6);
    for (const [name, points] of series) {
      expect(name).toContain('job="j"');
      const seconds = points.map(([at]) => at);
      const first = run.from / 1000;
      expect(seconds).toEqual(
        Array.from({ length: (run.to - run.from) / MINUTE_MS }, (_, index) => first + 60 * index),
      );
    }
    expect(asked(standIn)).toHaveLength(3 * 2);
    expect(run.to).toBeLessThanOrEqual(clock.now() - 10 * MINUTE_MS);
  });

  test('is asked for within the share of the limits', async () => {
    const standIn = await services({ appliances: 4 });
    const run = await begin(standIn, wish(temporaryDirectory(), { share: 0.1, sinceMs: HOUR_MS }), {
      PORTAL_RATE_LIMIT: '50/30s',
    });
    await finish(run);
    const moments = asked(standIn).map(({ at }) => at);
    expect(moments).toHaveLength(4 * 3);
    for (const at of moments) {
      expect(moments.filter((other) => other > at - 30_000 && other <= at).length).toBeLessThanOrEqual(5);
    }
  });

  test('is no longer asked for where it has become older than thirty days', async () => {
    const standIn = await services({ appliances: 1 });
    const folder = temporaryDirectory();
    const wanted = wish(folder, { series: ['cpu_utilization', 'os_disk_iops'] });
    const first = await begin(standIn, wanted);
    await through(first.backfill.run(first.tasks.slice(0, 1), new AbortController().signal));
    await through(first.close(new AbortController().signal));
    await clock.advance(6 * DAY_MS);
    const before = asked(standIn).length;
    const second = await begin(standIn, wanted);
    expect([second.from, second.to]).toEqual([first.from, first.to]);
    const points = [...pointsIn(await finish(second))].find(([name]) => name.includes('disk="os"'))?.[1] ?? [];
    const requests = asked(standIn).slice(before);
    // The first five of the thirty days are gone, and a part of the next five.
    expect(requests).toHaveLength(5);
    const limits = requests.map(({ at, status, body }) => {
      expect(status).toBe(200);
      const [start = ''] = (JSON.parse(body) as { readonly period: string }).period.split('/');
      expect(Date.parse(start)).toBeGreaterThan(at - 30 * DAY_MS);
      return Date.parse(start);
    });
    expect((points[0]?.[0] ?? 0) * 1000).toBe(Math.min(...limits));
  });

  test.each([
    ['the economy mode', { PORTAL_MODE: 'economy' }, ['cpu_utilization', 'load_average', 'cow_disk_iops']],
    ['series that are not polled', { PORTAL_COLLECTORS: 'volumes', PORTAL_SERIES: '' }, STANDARD_SERIES],
    [
      'operations without a history',
      { PORTAL_SERIES: 'appliance_health_score,current_appliance_performance,os_disk_iops' },
      ['os_disk_iops'],
    ],
  ])('is read of every series that has it, with %s', async (_, more, expected) => {
    const standIn = await services({ appliances: 1 });
    const run = await begin(standIn, wish(temporaryDirectory()), more);
    expect(new Set(run.tasks.map(({ operation }) => operation))).toEqual(new Set(expected));
    await through(run.close(new AbortController().signal));
  });

  test('is of the thirty days before the first run that has read something', async () => {
    const standIn = await services({ appliances: 1 });
    const wanted = wish(temporaryDirectory(), { series: ['cpu_utilization'] });
    const first = await begin(standIn, wanted);
    await through(first.close(new AbortController().signal));
    await clock.advance(DAY_MS);
    const second = await begin(standIn, wanted);
    expect(second.from - first.from).toBeGreaterThanOrEqual(DAY_MS);
    await through(second.close(new AbortController().signal));
  });

  test('is read of chosen appliances and series alone', async () => {
    const standIn = await services({ appliances: 3 });
    const [, appliance] = standIn.fleet.appliances;
    const chosen = { filers: [appliance?.title.toUpperCase() ?? ''], series: ['os_disk_iops'], sinceMs: HOUR_MS };
    const run = await begin(standIn, wish(temporaryDirectory(), chosen));
    const series = pointsIn(await finish(run));
    expect([...series.keys()].map((name) => name.replace(/.*direction="(\w+)",disk="(\w+)".*/, '$1 $2'))).toEqual([
      'read os',
      'write os',
    ]);
  });

  test.each([
    [{ filers: ['edge-nowhere'] }, '--filers: "edge-nowhere" is not a polled appliance'],
    [
      { series: ['cpu_utilisation'] },
      '--series: "cpu_utilisation" is not a series with a history; did you mean cpu_utilization?',
    ],
    [{ series: ['appliance_health_score'] }, '--series: "appliance_health_score" is not a series with a history'],
  ])('cannot be chosen by %j', async (chosen, message) => {
    const standIn = await services({ appliances: 1 });
    await expect(begin(standIn, wish(temporaryDirectory(), chosen))).rejects.toThrow(message);
  });
});

describe('an interruption', () => {
  test('loses nothing: what was done is not asked for again, and what a kill tore is cut off', async () => {
    const standIn = await services({ appliances: 3 });
    const whole = await finish(await begin(standIn, wish(temporaryDirectory(), { sinceMs: DAY_MS })));
    const folder = temporaryDirectory();
    const first = await begin(standIn, wish(folder, { sinceMs: DAY_MS }));
    await through(first.backfill.run(first.tasks.slice(0, 4), new AbortController().signal));
    await through(first.close(new AbortController().signal));
    appendFileSync(join(folder, 'filer_appliance_cpu_utilization_ratio.om.gz'), 'torn');
    appendFileSync(join(folder, 'filer_appliance_disk_iops.om.gz'), 'torn');
    appendFileSync(join(folder, 'progress'), '{"task":"portal/');
    const before = asked(standIn).length;
    await clock.advance(5 * MINUTE_MS);
    const second = await begin(standIn, wish(folder, { sinceMs: DAY_MS }));
    expect([second.from, second.to]).toEqual([first.from, first.to]);
    const series = pointsIn(await finish(second));
    expect(asked(standIn).length - before).toBe(3 * 3 - 4);
    expect(series.size).toBe(pointsIn(whole).size);
    for (const points of series.values()) expect(points).toHaveLength((first.to - first.from) / MINUTE_MS);
    await second.spool.remove();
    expect(existsSync(folder)).toBe(false);
  });

  test('goes on with the same options only, and not beside another process', async () => {
    const standIn = await services({ appliances: 1 });
    const folder = temporaryDirectory();
    const first = await begin(standIn, wish(folder));
    await expect(begin(standIn, wish(folder, { labels: { job: 'other' } }))).rejects.toThrow(
      'belongs to a run with other options',
    );
    // It names appliances.
    expect(statSync(join(folder, 'progress')).mode & 0o777).toBe(0o600);
    await expect(begin(standIn, wish(folder))).rejects.toThrow('is used by another process');
    await through(first.close(new AbortController().signal));
    await through((await begin(standIn, wish(folder))).close(new AbortController().signal));
    const other = temporaryDirectory();
    appendFileSync(join(other, 'letter.txt'), 'dear');
    await expect(begin(standIn, wish(other))).rejects.toThrow('contains other files');
    expect(readdirSync(other)).toEqual(['letter.txt']);
  });
});

describe('a work folder that somebody else can change', () => {
  const question = { asked: 'x', from: 0, to: 1 };
  const open = (folder: string) => Spool.open(folder, question, new Set(['filer_a']));
  const finished = { task: 't', outcome: 'read', points: 1, bins: 1, sizes: [['filer_a', 0]] };
  const others = (path: string) => () => chmodSync(path, 0o777);

  /** A folder with what is made in it. */
  const made = (make: (folder: string) => void) => (folder: string) => {
    mkdirSync(folder);
    make(folder);
  };
  const linked = (name: string, link: (target: string, path: string) => void) =>
    made((folder) => link(join(folder, '..', 'victim.om.gz'), join(folder, name)));
  const saying = (...lines: readonly unknown[]) =>
    made((folder) => {
      const text = lines.map((line) => `${JSON.stringify(line)}\n`).join('');
      writeFileSync(join(folder, 'progress'), text, { mode: 0o600 });
    });

  test.each([
    ['is a link', (folder: string) => symlinkSync(temporaryDirectory(), folder), 'is a link'],
    ['can be written by others', made((folder) => others(folder)()), 'can be written by other users'],
    ['is in a folder that others can write', made((folder) => others(join(folder, '..'))()), 'is in a folder that'],
    ['has a progress that is a link', linked('progress', symlinkSync), 'has a file that is a link: progress'],
    ['has a progress that is a second name', linked('progress', linkSync), 'has a file that is a link: progress'],
    [
      'has a progress that is a folder',
      made((folder) => mkdirSync(join(folder, 'progress'))),
      'has a file that is not a regular file: progress',
    ],
    [
      'has a progress of more than any run writes',
      made((folder) => {
        writeFileSync(join(folder, 'progress'), '', { mode: 0o600 });
        truncateSync(join(folder, 'progress'), 3_000_000_000);
      }),
      'has a file that is too large: progress',
    ],
    [
      'has a file that others can write',
      made((folder) => {
        writeFileSync(join(folder, 'progress'), `${JSON.stringify(question)}\n`);
        others(join(folder, 'progress'))();
      }),
      'has a file that can be written by other users: progress',
    ],
    ['names a file outside', saying(question, { ...finished, sizes: [['../victim', 0]] }), 'is corrupted: line 2'],
    ['has nothing in the place of a line', saying(question, finished, null), 'is corrupted: line 3'],
    ['has no sizes in a line', saying(question, {}), 'is corrupted: line 2'],
    ['has a text as a size', saying(question, { ...finished, sizes: [['filer_a', '0']] }), 'is corrupted: line 2'],
    ['has a size below nothing', saying(question, { ...finished, sizes: [['filer_a', -1]] }), 'is corrupted: line 2'],
    ['does not say which period it is of', saying({ asked: 'x' }), 'contains something else'],
  ])('is refused where it %s, and nothing outside is touched', async (_, make, message) => {
    const outside = temporaryDirectory();
    const victim = join(outside, 'victim.om.gz');
    writeFileSync(victim, 'dear', { mode: 0o600 });
    const folder = join(outside, 'work');
    make(folder);
    for (const spelt of [folder, `${folder}/`]) await expect(open(spelt)).rejects.toThrow(message);
    expect(readFileSync(victim, 'utf8')).toBe('dear');
  });
});

describe('trouble of the service', () => {
  test('an answer that is too large is asked for in halves, and the next ones are as short at once', async () => {
    const standIn = await services({ appliances: 1 });
    standIn.fail({ kind: 'status', status: 413, operation: 'cpu_utilization', times: 2 });
    const run = await begin(standIn, wish(temporaryDirectory(), { sinceMs: 10 * DAY_MS, series: ['cpu_utilization'] }));
    const [points] = pointsIn(await finish(run)).values();
    expect(points).toHaveLength((run.to - run.from) / MINUTE_MS);
    // Five days and two and a half are too long, so there are four pieces of five days each, and one of two and a half.
    expect(asked(standIn).map(({ status }) => status)).toEqual([413, 413, ...Array.from({ length: 8 }, () => 200)]);
  });

  test('an outage of half an hour is waited for', async () => {
    const standIn = await services({ appliances: 2 });
    const run = await begin(standIn, wish(temporaryDirectory(), { sinceMs: DAY_MS }));
    const heal = standIn.fail({ kind: 'status', status: 503 });
    const reading = run.backfill.run(run.tasks, new AbortController().signal);
    await through(clock.sleep(HOUR_MS / 2));
    expect(asked(standIn).length).toBeLessThan(300);
    heal();
    await through(reading);
    expect(run.backfill.failures.size).toBe(0);
    expect(run.spool.done.size).toBe(6);
  });

  test('a series that fails is given up, all others are read, and the same command asks for that one again', async () => {
    const standIn = await services({ appliances: 2 });
    const folder = temporaryDirectory();
    const heal = standIn.fail({ kind: 'status', status: 500, operation: 'load_average' });
    const run = await begin(standIn, wish(folder, { sinceMs: DAY_MS }));
    expect(pointsIn(await finish(run)).size).toBe(2 + 2);
    expect([...run.backfill.failures.values()].map(({ message }) => message)).toEqual([
      expect.stringContaining('was answered 500'),
      expect.stringContaining('was answered 500'),
    ]);
    heal();
    const before = asked(standIn).length;
    expect(pointsIn(await finish(await begin(standIn, wish(folder, { sinceMs: DAY_MS })))).size).toBe(2 * 4 + 2);
    expect(asked(standIn).length - before).toBe(2);
  });

  test('a role without the right for any series ends it after some requests', async () => {
    const standIn = await services({ appliances: 12, variations: { opsIqPremium: false } });
    const run = await begin(standIn, wish(temporaryDirectory(), { sinceMs: DAY_MS }));
    await expect(through(run.backfill.run(run.tasks, new AbortController().signal))).rejects.toThrow('403');
    expect(asked(standIn).length).toBeLessThan(30);
  });
});

describe('a service whose clock is ahead', () => {
  test('rejects the oldest minutes alone, which are told, and all others are read', async () => {
    const now = Date.UTC(2026, 2, 2, 10);
    const [from, to] = [now - 30 * DAY_MS + 10 * MINUTE_MS, now - 10 * MINUTE_MS];
    const spool = await Spool.open(temporaryDirectory(), { asked: 'x', from, to }, new Set(['filer_a']));
    const still = { now: () => now, monotonic: () => 0, sleep: () => Promise.resolve() };
    const parts = { binMs: MINUTE_MS, labels: {}, workers: 1, spool, clock: still, now: still.now, random: () => 0 };
    const backfill = new Backfill(parts);
    const kept = now - 30 * DAY_MS + 12 * MINUTE_MS;
    const lookback = new Lookback();
    const past = async (begin: number, end: number) => {
      const samples: Sample[] = [];
      const how = { binMs: MINUTE_MS, usualMs: 15 * MINUTE_MS };
      const covered = await lookback.cover('t', { from: begin, to: end }, how, async (part) => {
        if (part.from < kept) throw new RequestError('status', 'too old', { status: 422 });
        for (let time = part.from; time < part.to; time += MINUTE_MS)
          samples.push({ name: 'filer_a', labels: {}, value: 1, at: time / 1000 });
      });
      const points = { ...pointsSince(covered.from, now, samples), isOldest: covered.failure !== undefined };
      return { points, drops: new Map() };
    };
    await backfill.run([{ id: 't', past } as unknown as PastTask], new AbortController().signal);
    const { bins = 0 } = spool.done.get('t') ?? {};
    const rejected = backfill.unused.get('rejected') ?? 0;
    expect(backfill.failures.size).toBe(0);
    expect(bins + rejected).toBe((to - from) / MINUTE_MS);
    expect(rejected).toBeGreaterThanOrEqual(2);
    expect(rejected).toBeLessThan(10);
  });
});

describe('bad input', () => {
  const NOW = Date.UTC(2026, 2, 2, 10);
  const at = (minutes: number, value: number, name = 'filer_a'): Sample => {
    return { name, labels: {}, value, at: (NOW - MINUTE_MS * minutes) / 1000 };
  };

  async function readOf(points: readonly Sample[]) {
    const question = { asked: 'x', from: NOW - HOUR_MS, to: NOW - 10 * MINUTE_MS };
    const spool = await Spool.open(temporaryDirectory(), question, new Set(['filer_a']));
    const still = { now: () => NOW, monotonic: () => 0, sleep: () => Promise.resolve() };
    const backfill = new Backfill({
      ...{ binMs: MINUTE_MS, labels: {}, workers: 1, spool },
      clock: still,
      now: still.now,
      random: () => 0,
    });
    const task = {
      id: 't',
      past: () => Promise.resolve({ points: pointsSince(question.from, NOW, points), drops: new Map() }),
    } as unknown as PastTask;
    await backfill.run([task], new AbortController().signal);
    const lines: string[] = [];
    for (const family of spool.families) for await (const piece of spool.read(family)) lines.push(String(piece));
    return { lines: lines.join('').trimEnd().split('\n'), unused: backfill.unused, done: spool.done.get('t') };
  }

  test('is sorted, comes once, and is not taken from the future or from outside the period', async () => {
    const { lines, unused, done } = await readOf([
      ...[at(20, 2), at(30, 1), at(20, 9), at(70, 5), at(10, 6), at(3, 7), at(-60, 8)],
      { name: 'filer_a', labels: {}, value: 4 },
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
    expect(wishOf(parseArguments(['--backfill', '--since', '30d']).options)).toEqual({
      ...{ sinceMs: 30 * DAY_MS, untilMs: 0, labels: undefined, filers: undefined, series: undefined },
      ...{ share: 0.5, folder: 'filer-exporter-backfill' },
    });
  });

  test.each([
    [['--backfill'], '--backfill: expected --since with a duration such as 30d'],
    [
      ['--backfill', '--since', '31d'],
      '--since: "31d" is above 30d; expected a Prometheus duration from 0s to 30d, such as 30d',
    ],
    [['--backfill', '--since', '1d', '--until', '1d'], '--since: expected at least 15m before --until'],
    [['--backfill', '--since', '1d', '--share', '0%'], '--share: 0% is not a part of the limits; expected 1% to 100%'],
    [['--backfill', '--since', '1d', '--labels', '1=x'], '--labels: "1=x" has no label name'],
    [['--since', '1d'], '--since: can only be used with --backfill'],
  ])('%j is a fault', (args, message) => {
    expect(() => wishOf(parseArguments(args).options)).toThrow(message);
  });
});

test('a request that is given up at the stop leaves what was done in the folder', async () => {
  const standIn = await services({ appliances: 1 });
  const run = await begin(standIn, wish(temporaryDirectory(), { sinceMs: DAY_MS }));
  const stop = new AbortController();
  const lift = standIn.fail({ kind: 'hang', operation: 'cpu_utilization' });
  const reading = run.backfill.run(run.tasks, stop.signal);
  await through(clock.sleep(10_000));
  stop.abort();
  await through(reading);
  lift();
  expect(run.backfill.failures.size).toBe(0);
  expect([...run.spool.done.keys()].some((task) => task.includes('load_average'))).toBe(true);
  expect([...run.spool.done.keys()].some((task) => task.includes('cpu_utilization'))).toBe(false);
});
