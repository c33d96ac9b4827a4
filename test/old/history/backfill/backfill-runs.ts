import { expect } from 'vitest';
import { type BackfillOptions, type BackfillRun, createBackfill, openMetrics } from '../../../src/app/backfill.ts';
import type { MockServices, Variations } from '../../../src/demo/mock-services.ts';
import type { Spool } from '../../../src/history/backfill/spool.ts';
import { World } from '../../harness/world.ts';
import { loadConfig } from '../../support/load-config.ts';
import { noLog } from '../../support/mock-api.ts';
import { portalEnvironment } from '../../support/real-services.ts';

export const HOUR_MS = 3_600_000;
export const DAY_MS = 24 * HOUR_MS;
export const MINUTE_MS = 60_000;

/** Services with so many appliances, without an exporter. */
export function services(appliances: number, variations: Partial<Variations> = {}): Promise<World> {
  return World.begin({ appliances, variations, later: true });
}

/** Waits for something that needs the clock and the disk. */
export function through<Value>({ clock }: World, promise: Promise<Value>, stepMs = 200): Promise<Value> {
  return clock.through(promise, stepMs);
}

export const environment = (mocks: MockServices) => ({
  ...portalEnvironment(mocks),
  PORTAL_SERIES: 'cpu_utilization,load_average,cow_disk_iops',
  PORTAL_COLLECTORS: 'telemetry',
});

export const wish = (folder: string, more: Partial<BackfillOptions> = {}): BackfillOptions => ({
  sinceMs: 30 * DAY_MS,
  untilMs: 0,
  labels: { job: 'j' },
  filers: undefined,
  series: undefined,
  share: 1,
  folder,
  ...more,
});

export async function begin(world: World, wanted: BackfillOptions, more: Readonly<Record<string, string>> = {}) {
  const config = loadConfig({
    environment: { ...environment(world.services), ...more },
  });
  const outside = {
    clock: world.clock,
    random: () => 0.5,
    log: noLog,
    version: '0',
    revision: 'test',
    nodeVersion: 'v0',
    connect: () => world.network.connect(),
  };
  return through(world, createBackfill(config, outside, wanted, new AbortController().signal));
}

export async function finish(world: World, run: BackfillRun): Promise<string> {
  await through(world, run.backfill.run(run.tasks, new AbortController().signal));
  await through(world, run.close(new AbortController().signal));
  return textOf(run.spool);
}

export async function textOf(spool: Spool): Promise<string> {
  const pieces: Buffer[] = [];
  for await (const piece of openMetrics(spool)) pieces.push(Buffer.from(piece));
  return Buffer.concat(pieces).toString('utf8');
}

/** Requests for series so far. */
export const asked = ({ services: { requests } }: World) => requests.filter(({ path }) => path.includes('/telemetry/'));

/** The points of each series, in the order in which they stand; throws where a family or a series stands in two places. */
export function pointsIn(text: string): ReadonlyMap<string, readonly (readonly [seconds: number, value: number])[]> {
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
