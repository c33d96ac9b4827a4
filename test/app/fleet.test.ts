import { describe, expect, test } from 'vitest';
import type { StandIn } from '../../src/demo/stand-in.ts';
import { clock, exporter, gfaEnvironment, type Live, portalEnvironment, services, until } from '../support/live.ts';

describe('an appliance', () => {
  test('that fails keeps its values until they are stale, counts as down from then on, and touches no other', async () => {
    const { standIn, live, first } = await whole();
    const cpu = { serial: first.serial };
    const failedAt = clock.monotonic();
    const lift = standIn.fail({ kind: 'status', status: 500, serial: first.serial });
    const stale = await until('its values to leave', async () => {
      const scrape = await live.scrape();
      return scrape.all(/utilization|load|series_timestamp/, cpu).length === 0 && scrape;
    });
    // Three intervals of ten seconds after the last poll that brought them, which was up to one and a half before.
    expect(clock.monotonic() - failedAt).toBeGreaterThan(15_000);
    expect(stale.value('filer_appliance_up', cpu)).toBe(0);
    expect(stale.value('filer_api_up', { api: 'portal' })).toBe(1);
    expect(stale.all('filer_appliance_cpu_utilization_ratio')).toHaveLength(3);
    expect(stale.sum('filer_appliance_up')).toBe(3);
    expect((await live.get('/status')).text).toContain('answered 500');
    expect(live.log.filter(({ msg }) => msg === 'the appliance does not answer')).toHaveLength(1);

    lift();
    await until('it to be back', async () => {
      const scrape = await live.scrape();
      return scrape.value('filer_appliance_up', cpu) === 1 && scrape.value('filer_appliance_cpu_cores', cpu);
    });
  });
});

test('three shards poll each appliance once between them, and only the first polls the file acceleration service', async () => {
  const standIn = await services({ appliances: 30 });
  const shards = await Promise.all(
    [0, 1, 2].map((shard) =>
      exporter({
        ...gfaEnvironment(standIn),
        ...portalEnvironment(standIn),
        GFA_CLIENT_KEY: `shard-${shard}`,
        SHARD: String(shard),
        TOTAL_SHARDS: '3',
      }),
    ),
  );
  const moments = await until('all appliances on all shards together', async () => {
    const scrapes = await Promise.all(shards.map((shard) => shard.scrape()));
    return scrapes.reduce((sum, scrape) => sum + scrape.sum('filer_appliance_up'), 0) === 30 && scrapes;
  });
  const pollers = new Map<string, Set<string>>();
  for (const { path, headers } of standIn.requests) {
    const serial = /^\/telemetry\/appliances\/([^/]+)\//.exec(path)?.[1];
    if (serial === undefined) continue;
    pollers.set(serial, (pollers.get(serial) ?? new Set()).add(headers.authorization ?? ''));
  }
  expect([...pollers.keys()].toSorted()).toEqual(standIn.fleet.appliances.map(({ serial }) => serial).toSorted());
  expect([...pollers.values()].filter(({ size }) => size !== 1)).toEqual([]);
  expect(moments.map((scrape) => scrape.all('filer_appliance_up').length).every((count) => count > 4)).toBe(true);
  const keys = standIn.requests
    .filter(({ operation }) => operation === 'data')
    .map(({ headers }) => headers['x-service-client-key']);
  expect(new Set(keys)).toEqual(new Set(['shard-0']));
  expect(moments.map((scrape) => scrape.all('filer_api_up').map(({ labels }) => labels.api))).toEqual([
    ['gfa', 'portal'],
    ['portal'],
    ['portal'],
  ]);
});

/** An exporter that has polled everything of both services once. */
async function whole() {
  const standIn = await services();
  const live = await exporter({ ...gfaEnvironment(standIn), ...portalEnvironment(standIn) });
  await until('every appliance and both services to be up', () => isWhole(live, standIn));
  const [first] = standIn.fleet.appliances;
  if (first === undefined) throw new Error('the stand-in has no appliance');
  return { standIn, live, first };
}

async function isWhole(live: Live, standIn: StandIn): Promise<boolean> {
  const scrape = await live.scrape();
  const series = scrape.all('filer_appliance_series_timestamp_seconds').length;
  return scrape.sum('filer_api_up') === 2 && series === 2 * standIn.fleet.appliances.length;
}
