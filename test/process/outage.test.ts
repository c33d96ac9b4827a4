import { describe, expect, test } from 'vitest';
import type { StandIn } from '../../src/demo/stand-in.ts';
import { clock, exporter, gfaEnvironment, type Live, portalEnvironment, services, until } from '../support/live.ts';
import { isAtLeast } from '../support/program.ts';

describe('while the whole portal is down', () => {
  test('filer_api_up says so, the log says it once, and the other service goes on', async () => {
    const { standIn, live } = await whole(6);
    const before = loud(live).length;
    const lift = standIn.fail({ kind: 'status', status: 503, operation: /^(?!data$)/ });
    await until(
      'the portal to be down',
      async () => (await live.scrape()).value('filer_api_up', { api: 'portal' }) === 0,
    );
    await until('the log to say so', () => live.log.some(({ msg }) => msg === DOWN));
    const polls = asked(standIn, 'data');
    await until('two more polls of the other service', () => asked(standIn, 'data') >= polls + 2);
    const down = await live.scrape();
    expect(down.value('filer_api_up', { api: 'gfa' })).toBe(1);
    expect(down.sum('filer_appliance_up')).toBe(0);
    expect(
      loud(live)
        .slice(before)
        .filter(({ msg }) => msg === DOWN),
    ).toHaveLength(1);
    // An operation that goes on failing is told once, and so is an appliance; what follows from the portal is not.
    const said = loud(live)
      .slice(before)
      .map(({ msg, operation, serial }) => `${msg}: ${String(operation ?? serial ?? '')}`);
    expect(said).toHaveLength(new Set(said).size);
    expect(said.filter((line) => line.startsWith('the appliance does not answer')).length).toBeLessThan(3);

    lift();
    const liftedAt = clock.monotonic();
    await until('the portal to be back', () => isWhole(live, standIn));
    expect((clock.monotonic() - liftedAt) / 1000).toBeLessThan(2 * INTERVAL_SECONDS);
    expect(live.log.filter(({ msg }) => msg === 'the API answers again')).toHaveLength(1);
  });

  test('its appliances are probed with one request at a time', async () => {
    const { standIn, live } = await whole(6, { REQUEST_TIMEOUT: '5s' });
    standIn.fail({ kind: 'hang', operation: /^(?!data$)/ });
    await until('the portal to be down', () => live.log.some(({ msg }) => msg === DOWN));
    // What was under way when it went down is given up after five seconds; from then on there are probes alone.
    const from = clock.now() + 5_000;
    const probes = () =>
      standIn.requests.filter(({ path, at }) => path.startsWith('/telemetry/appliances/') && at > from);
    await until('three probes', () => probes().length >= 3);
    const gaps = probes().map(({ at }, index) => at - (probes()[index - 1]?.at ?? Number.NEGATIVE_INFINITY));
    expect(gaps.filter((gap) => gap < 5_000)).toEqual([]);
  });
});

describe('a 429', () => {
  test('with Retry-After holds everything for that long, and is counted', async () => {
    const { standIn, live } = await whole(6);
    const headers = { 'retry-after': '20' };
    standIn.fail({ kind: 'status', status: 429, headers, operation: /^c/, times: 1 });
    const refused = await until('the refusal', () => standIn.requests.find(({ status }) => status === 429));
    const held = await live.scrape();
    expect(held.value('filer_exporter_throttled_total', { api: 'portal' })).toBe(1);
    expect(held.value('filer_exporter_pace_requests_per_second', { api: 'portal' })).toBe(0);
    expect(held.value('filer_api_up', { api: 'gfa' })).toBe(1);
    const next = await until('the next request', () =>
      standIn.requests.find(({ service, at }) => service === 'portal' && at > refused.at),
    );
    expect((next.at - refused.at) / 1000).toBeGreaterThanOrEqual(19.5);
    await until('the portal to be up again', () => isWhole(live, standIn));
  });

  test('without Retry-After is followed by a single request that finds out', async () => {
    const { standIn, live } = await whole(6);
    standIn.fail({ kind: 'status', status: 429, operation: /^c/, times: 3 });
    await until('the refusals to be over and every value to be there again', async () => {
      const scrape = await live.scrape();
      return scrape.value('filer_exporter_throttled_total', { api: 'portal' }) === 3 && isWhole(live, standIn);
    });
  });
});

const INTERVAL_SECONDS = 30;
const SERIES = ['cpu_utilization', 'load_average', 'cache_utilization', 'cache_hits_misses'];
const DOWN = 'the API cannot be polled';

/** An exporter with intervals of half a minute that has polled everything of both services once. */
async function whole(appliances: number, more: Readonly<Record<string, string>> = {}) {
  const standIn = await services({ appliances });
  const slow = { PORTAL_INTERVAL: `${INTERVAL_SECONDS}s`, PORTAL_SERIES: SERIES.join(',') };
  const live = await exporter({ ...gfaEnvironment(standIn), ...portalEnvironment(standIn), ...slow, ...more });
  await until('every series and both services to be up', () => isWhole(live, standIn));
  return { standIn, live };
}

async function isWhole(live: Live, standIn: StandIn): Promise<boolean> {
  const scrape = await live.scrape();
  const series = scrape.all('filer_appliance_series_timestamp_seconds').length;
  const { length } = standIn.fleet.appliances;
  return (
    scrape.sum('filer_api_up') === 2 && scrape.sum('filer_appliance_up') === length && series === SERIES.length * length
  );
}

function loud(live: Live) {
  return live.log.filter(({ level }) => isAtLeast(level, 'info'));
}

function asked(standIn: StandIn, operation: string): number {
  return standIn.requests.filter((request) => request.operation === operation).length;
}
