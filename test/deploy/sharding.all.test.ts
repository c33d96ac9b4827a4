// Only here: appliances that two shards poll, or none.
import { describe, expect, test } from 'vitest';
import type { MockServices } from '../../src/demo/mock-services.ts';
import { seededRandom } from '../../src/demo/seeded-random.ts';
import { shardOf } from '../../src/services/portal/appliances/shard.ts';
import { World } from '../harness/world.ts';
import { gfaEnvironment, portalEnvironment } from '../support/real-services.ts';
import { environmentOf, exporterIn } from './kubernetes/manifest.ts';
import { renderChart } from './kubernetes/render.ts';

/* Shards, configured as the chart configures the pods of its StatefulSet, over one account with 300 appliances. */

const APPLIANCES = 300;
const SERIES = ['cpu_utilization', 'load_average'];
/** The same fleet each time. Of a hundred such fleets two are less lucky: see the last test. */
const fleet = { appliances: APPLIANCES, seed: 2 };
const ACCOUNT = { requests: 500, windowMs: 30_000 };

describe('three shards of 300 appliances', () => {
  test('poll each series of each appliance once in a round, and ask no more than the account may together', async () => {
    const world = await World.begin({ appliances: APPLIANCES, later: true });
    const mocks = world.services;
    await startShards(world, 3, SERIES);
    const asked = () => mocks.requests.filter(({ path }) => path.startsWith('/telemetry/appliances/'));
    await world.until(
      'a whole round',
      () => new Set(asked().map(({ path }) => path)).size === APPLIANCES * SERIES.length,
    );

    const times = new Map<string, number>();
    for (const { path } of asked()) times.set(path, (times.get(path) ?? 0) + 1);
    expect([...times].filter(([, count]) => count !== 1)).toEqual([]);
    expect(maxInAWindow(mocks)).toBeLessThanOrEqual(ACCOUNT.requests);
    expect(mocks.requests.filter(({ status }) => status === 429)).toEqual([]);
    // Only the first of them polls the other service.
    const keys = mocks.requests.filter(({ service }) => service === 'gfa').map(({ headers }) => headers.authorization);
    expect(keys.length).toBeGreaterThan(0);
  });

  test('become four with at most 30 % of the appliances in another place, and none without one', async () => {
    const [before, serials] = await owners(3);
    const [after] = await owners(4);
    expect([...before.keys()].toSorted()).toEqual(serials.toSorted());
    expect([...after.keys()].toSorted()).toEqual(serials.toSorted());
    const moved = serials.filter((serial) => before.get(serial) !== after.get(serial));
    expect(moved.length / serials.length).toBeLessThanOrEqual(0.3);
    // Those that move all go to the shard that is new, which has its fair part then.
    expect(new Set(moved.map((serial) => after.get(serial)))).toEqual(new Set([3]));
    expect(moved.length / serials.length).toBeGreaterThan(0.2);
  });

  test('move a quarter, give or take what chance does with 300', () => {
    const random = seededRandom(1);
    const movedOf = (count: number) => {
      const serials = Array.from({ length: count }, () => random().toString(36));
      return serials.filter((serial) => shardOf(serial, 3) !== shardOf(serial, 4)).length / count;
    };
    expect(movedOf(30_000)).toBeCloseTo(0.25, 2);
    const fleets = Array.from({ length: 200 }, () => movedOf(APPLIANCES));
    expect(fleets.filter((moved) => moved > 0.3).length).toBeLessThanOrEqual(10);
  });
});

/** Starts every shard of a release, named as Kubernetes would name its pods. */
function startShards(world: World, total: number, series: readonly string[]) {
  const wanted = 'gfa.url=https://gfa.example.com/v1,portal.url=https://portal.example.com,secrets.existing=keys';
  const pod = environmentOf(exporterIn(renderChart('--set', `shards=${total}`, '--set', wanted)));
  expect(pod.SHARD).toBe('(metadata.name)');
  const { PORTAL_RATE_LIMIT = '', PORTAL_DAILY_LIMIT = '', TOTAL_SHARDS = '', GFA_CLIENT_KEY = '' } = pod;
  return Promise.all(
    Array.from({ length: total }, (_, ordinal) =>
      world.exporter({
        ...gfaEnvironment(world.services),
        ...portalEnvironment(world.services),
        PORTAL_RATE_LIMIT,
        PORTAL_DAILY_LIMIT,
        TOTAL_SHARDS,
        GFA_CLIENT_KEY,
        SHARD: `fleet-filer-exporter-${ordinal}`,
        // One round is all there is time for, so whatever is asked twice is asked by two.
        PORTAL_COLLECTORS: 'telemetry',
        PORTAL_INTERVAL: '1h',
        PORTAL_DISCOVERY_INTERVAL: '1h',
        PORTAL_SERIES: series.join(','),
      }),
    ),
  );
}

/** Which shard has each appliance on its page, and which appliances there are. */
async function owners(total: number): Promise<[ReadonlyMap<string, number>, readonly string[]]> {
  const world = await World.begin({ ...fleet, later: true });
  const shards = await startShards(world, total, ['cpu_utilization']);
  const asked = () =>
    new Set(world.services.requests.map(({ path }) => path).filter((path) => path.endsWith('/cpu_utilization')));
  await world.until('every appliance to have been asked', () => asked().size === APPLIANCES);
  const found = await world.until('every appliance on a page', async () => {
    const scrapes = await Promise.all(shards.map((shard) => shard.scrape()));
    const all = scrapes.flatMap((scrape, shard) =>
      scrape.all('filer_appliance_up').map(({ labels }) => [labels.serial ?? '', shard] as const),
    );
    return all.length >= APPLIANCES && all;
  });
  expect(found).toHaveLength(APPLIANCES);
  return [new Map(found), world.serials];
}

/** The most requests to the portal that arrived within one window of the account's limit. */
function maxInAWindow({ requests }: MockServices): number {
  const arrivals = requests.filter(({ service }) => service === 'portal').map(({ at }) => at);
  return arrivals.reduce((most, at, index) => {
    const first = arrivals.findIndex((other) => other > at - ACCOUNT.windowMs);
    return Math.max(most, index - first + 1);
  }, 0);
}
