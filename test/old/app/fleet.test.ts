import { expect, test } from 'vitest';
import type { StatusReport } from '../../src/status/model.ts';
import { World } from '../harness/world.ts';
import { gfaEnvironment, portalEnvironment } from '../support/real-services.ts';

test('three shards poll each appliance once between them, and only the first polls the file acceleration service', async () => {
  const world = await World.begin({ appliances: 30, later: true });
  const mocks = world.services;
  const shards = await Promise.all(
    [0, 1, 2].map((shard) =>
      world.exporter({
        ...gfaEnvironment(mocks),
        ...portalEnvironment(mocks),
        GFA_CLIENT_KEY: `shard-${shard}`,
        SHARD: String(shard),
        TOTAL_SHARDS: '3',
      }),
    ),
  );
  const moments = await world.until('all appliances on all shards together', async () => {
    const scrapes = await Promise.all(shards.map((shard) => shard.scrape()));
    return scrapes.reduce((sum, scrape) => sum + scrape.sum('filer_appliance_up'), 0) === 30 && scrapes;
  });
  const pollers = new Map<string, Set<string>>();
  for (const { path, headers } of mocks.requests) {
    const serial = /^\/telemetry\/appliances\/([^/]+)\//.exec(path)?.[1];
    if (serial === undefined) continue;
    pollers.set(serial, (pollers.get(serial) ?? new Set()).add(headers.authorization ?? ''));
  }
  expect([...pollers.keys()].toSorted()).toEqual(mocks.fleet.appliances.map(({ serial }) => serial).toSorted());
  expect([...pollers.values()].filter(({ size }) => size !== 1)).toEqual([]);
  expect(moments.map((scrape) => scrape.all('filer_appliance_up').length).every((count) => count > 4)).toBe(true);
  // Each takes a third of what the account may request.
  for (const shard of shards) {
    const { apis } = JSON.parse((await shard.page('/api/v1/status')).text) as StatusReport;
    const [portal] = apis.filter(({ api }) => api === 'portal');
    expect(portal?.limits).toEqual({ requests: 166, windowSeconds: 30, requestsPerDay: 333_333 });
  }
  const keys = mocks.requests
    .filter(({ operation }) => operation === 'data')
    .map(({ headers }) => headers['x-service-client-key']);
  expect(new Set(keys)).toEqual(new Set(['shard-0']));
  expect(moments.map((scrape) => scrape.all('filer_api_up').map(({ labels }) => labels.api))).toEqual([
    ['gfa', 'portal'],
    ['portal'],
    ['portal'],
  ]);
});
