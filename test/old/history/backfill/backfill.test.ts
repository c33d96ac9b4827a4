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
import { Spool } from '../../../src/history/backfill/spool.ts';
import { STANDARD_SERIES } from '../../../src/services/portal/appliances/series-operations.ts';
import { FileStore } from '../../../src/state/file-store.ts';
import { Journal } from '../../../src/state/journal.ts';
import { ManualClock } from '../../support/manual-clock.ts';
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

describe('what the service keeps', () => {
  test('comes minute by minute, from the oldest, five days a request, and each family stands together', async () => {
    const world = await services(1);
    const run = await begin(world, wish(temporaryDirectory(), { sinceMs: 6 * DAY_MS }));
    const series = pointsIn(await finish(world, run));
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
    expect(asked(world)).toHaveLength(3 * 2);
    expect(run.to).toBeLessThanOrEqual(world.clock.now() - 10 * MINUTE_MS);
  });

  test('is asked for within the share of the limits', async () => {
    const world = await services(4);
    const run = await begin(world, wish(temporaryDirectory(), { share: 0.1, sinceMs: HOUR_MS }), {
      PORTAL_RATE_LIMIT: '50/30s',
    });
    await finish(world, run);
    const moments = asked(world).map(({ at }) => at);
    expect(moments).toHaveLength(4 * 3);
    for (const at of moments) {
      expect(moments.filter((other) => other > at - 30_000 && other <= at).length).toBeLessThanOrEqual(5);
    }
  });

  test('is no longer asked for where it has become older than thirty days', async () => {
    const world = await services(1);
    const folder = temporaryDirectory();
    const wanted = wish(folder, { series: ['cpu_utilization', 'os_disk_iops'] });
    const first = await begin(world, wanted);
    await through(world, first.backfill.run(first.tasks.slice(0, 1), new AbortController().signal));
    await through(world, first.close(new AbortController().signal));
    await world.clock.advance(6 * DAY_MS);
    const before = asked(world).length;
    const second = await begin(world, wanted);
    expect([second.from, second.to]).toEqual([first.from, first.to]);
    const points = [...pointsIn(await finish(world, second))].find(([name]) => name.includes('disk="os"'))?.[1] ?? [];
    const requests = asked(world).slice(before);
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
    const world = await services(1);
    const run = await begin(world, wish(temporaryDirectory()), more);
    expect(new Set(run.tasks.map(({ operation }) => operation))).toEqual(new Set(expected));
    await through(world, run.close(new AbortController().signal));
  });

  test('is of the thirty days before the first run that has read something', async () => {
    const world = await services(1);
    const wanted = wish(temporaryDirectory(), { series: ['cpu_utilization'] });
    const first = await begin(world, wanted);
    await through(world, first.close(new AbortController().signal));
    await world.clock.advance(DAY_MS);
    const second = await begin(world, wanted);
    expect(second.from - first.from).toBeGreaterThanOrEqual(DAY_MS);
    await through(world, second.close(new AbortController().signal));
  });

  test('is read of chosen appliances and series alone', async () => {
    const world = await services(3);
    const [, appliance] = world.services.fleet.appliances;
    const chosen = { filers: [appliance?.title.toUpperCase() ?? ''], series: ['os_disk_iops'], sinceMs: HOUR_MS };
    const run = await begin(world, wish(temporaryDirectory(), chosen));
    const series = pointsIn(await finish(world, run));
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
    const world = await services(1);
    await expect(begin(world, wish(temporaryDirectory(), chosen))).rejects.toThrow(message);
  });
});

describe('an interruption', () => {
  test('loses nothing: what was done is not asked for again, and what a kill tore is cut off', async () => {
    const world = await services(3);
    const whole = await finish(world, await begin(world, wish(temporaryDirectory(), { sinceMs: DAY_MS })));
    const folder = temporaryDirectory();
    const first = await begin(world, wish(folder, { sinceMs: DAY_MS }));
    await through(world, first.backfill.run(first.tasks.slice(0, 4), new AbortController().signal));
    await through(world, first.close(new AbortController().signal));
    appendFileSync(join(folder, 'filer_appliance_cpu_utilization_ratio.om.gz'), 'torn');
    appendFileSync(join(folder, 'filer_appliance_disk_iops.om.gz'), 'torn');
    appendFileSync(join(folder, 'progress'), '{"task":"portal/');
    const before = asked(world).length;
    await world.clock.advance(5 * MINUTE_MS);
    const second = await begin(world, wish(folder, { sinceMs: DAY_MS }));
    expect([second.from, second.to]).toEqual([first.from, first.to]);
    const series = pointsIn(await finish(world, second));
    expect(asked(world).length - before).toBe(3 * 3 - 4);
    expect(series.size).toBe(pointsIn(whole).size);
    for (const points of series.values()) expect(points).toHaveLength((first.to - first.from) / MINUTE_MS);
    await second.spool.remove();
    expect(existsSync(folder)).toBe(false);
  });

  test('goes on with the same options only, and not beside another process', async () => {
    const world = await services(1);
    const folder = temporaryDirectory();
    const first = await begin(world, wish(folder));
    // It names appliances.
    expect(statSync(join(folder, 'progress')).mode & 0o777).toBe(0o600);
    await expect(begin(world, wish(folder))).rejects.toThrow('is used by another process');
    await through(world, first.close(new AbortController().signal));
    await expect(begin(world, wish(folder, { labels: { job: 'other' } }))).rejects.toThrow(
      'belongs to a run with other options',
    );
    await through(world, (await begin(world, wish(folder))).close(new AbortController().signal));
    const other = temporaryDirectory();
    appendFileSync(join(other, 'letter.txt'), 'dear');
    await expect(begin(world, wish(other))).rejects.toThrow('contains other files');
    expect(readdirSync(other)).toEqual(['letter.txt']);
  });
});

describe('[work-folder] a work folder that somebody else can change', () => {
  const question = { fingerprint: 'x', from: 0, to: 1 };
  const open = (folder: string) => Spool.open(folder, question, new Set(['filer_a']), new ManualClock());
  const done = { task: 't', outcome: 'read', points: 1, bins: 1 };
  const sizes = [['filer_a', 0]];
  const others = (path: string) => () => chmodSync(path, 0o777);

  /** A folder with what is made in it. */
  const made = (make: (folder: string) => void | Promise<void>) => (folder: string) => {
    mkdirSync(folder);
    return make(folder);
  };
  const linked = (name: string, link: (target: string, path: string) => void) =>
    made((folder) => link(join(folder, '..', 'victim.om.gz'), join(folder, name)));
  const saying = (heading: object, ...lines: readonly unknown[]) =>
    made(async (folder) => {
      const store = new FileStore(join(folder, 'progress'));
      const journal = new Journal(store, new ManualClock());
      await journal.rewrite({ program: 'filer-exporter backfill', ...heading }, { lines, last: { sizes: [] } });
      journal.close();
      store.release();
    });
  const makesNoSense = 'is corrupted: an entry of progress makes no sense';

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
    ['names a file outside', saying(question, { done, sizes: [['../victim', 0]] }), makesNoSense],
    ['has nothing in the place of a line', saying(question, { done, sizes }, null), makesNoSense],
    ['has no sizes in a line', saying(question, { done }), makesNoSense],
    ['has a text as a size', saying(question, { done, sizes: [['filer_a', '0']] }), makesNoSense],
    ['has a size below nothing', saying(question, { done, sizes: [['filer_a', -1]] }), makesNoSense],
    ['does not say which period it is of', saying({ asked: 'x' }), 'contains something else'],
  ])('is refused where it %s, and nothing outside is touched', async (_, make, message) => {
    const outside = temporaryDirectory();
    const victim = join(outside, 'victim.om.gz');
    writeFileSync(victim, 'dear', { mode: 0o600 });
    const folder = join(outside, 'work');
    await make(folder);
    for (const spelt of [folder, `${folder}/`]) await expect(open(spelt)).rejects.toThrow(message);
    expect(readFileSync(victim, 'utf8')).toBe('dear');
  });
});
