// Only here: appliances that two shards poll, or none.
import { describe, expect, test } from 'vitest';
import type { MockServices } from '../../src/demo/mock-services.ts';
import { World } from '../harness/world.ts';
import { gfaEnvironment, portalEnvironment } from '../support/real-services.ts';
import { environmentOf, exporterIn } from './kubernetes/manifest.ts';
import { renderChart } from './kubernetes/render.ts';

/* Shards, configured as the chart configures the pods of its StatefulSet, over one account with 300 appliances. */

const APPLIANCES = 300;
const SERIES = ['cpu_utilization', 'load_average'];
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

/** The most requests to the portal that arrived within one window of the account's limit. */
function maxInAWindow({ requests }: MockServices): number {
  const arrivals = requests.filter(({ service }) => service === 'portal').map(({ at }) => at);
  return arrivals.reduce((most, at, index) => {
    const first = arrivals.findIndex((other) => other > at - ACCOUNT.windowMs);
    return Math.max(most, index - first + 1);
  }, 0);
}
