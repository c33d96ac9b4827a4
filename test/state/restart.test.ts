import { describe, expect, test } from 'vitest';
import type { MockServices } from '../../src/demo/mock-services.ts';
import type { Clock } from '../../src/runtime/clock.ts';
import { clock, exporter, gfaEnvironment, type Live, portalEnvironment, services, until } from '../support/live.ts';
import { MemoryStore } from '../support/memory-store.ts';
import { isAtLeast } from '../support/program.ts';
import type { Scrape } from '../support/scrape.ts';

const HOUR_MS = 3_600_000;
const COUNTS = /^filer_(?:lock_events_total|(?:lock|propagation)_duration_seconds_(?:sum|count))$/;
const OF_FILERS = /^filer_(?:lock|propagation|gfa|volume)_/;
const COUNTED = /_(?:total|bucket|sum|count)$/;
const KEPT = ['filer_lock_events_total', 'filer_propagation_duration_seconds_count'] as const;

/** Starts the program on a state file; `laterMs`: how far its wall clock is ahead. */
function life(store: MemoryStore, environment: Readonly<Record<string, string>>, laterMs = 0): Promise<Live> {
  const own: Clock = {
    now: () => clock.now() + laterMs,
    monotonic: () => clock.monotonic(),
    sleep: (ms, signal) => clock.sleep(ms, signal),
  };
  return exporter({ STATE_FILE: '/state', ...environment }, { clock: own, openState: () => store });
}

const warnings = ({ log }: Live) => log.filter(({ level }) => isAtLeast(level, 'warn')).map(({ msg }) => msg);

/** Runs the program until it has polled, and stops it; what the last scrape said. */
async function polledLife(store: MemoryStore, environment: Readonly<Record<string, string>>): Promise<Scrape> {
  const first = await life(store, environment);
  const scraped = await until('events', async () => {
    const now = await first.scrape();
    return now.all(COUNTS).length > 0 && now;
  });
  await first.stop();
  return scraped;
}

/** From now on the service answers nobody. */
function silence(mocks: MockServices): void {
  mocks.fail({ kind: 'status', status: 500, operation: 'data' });
}

describe('a program that is started again with its state file', () => {
  test('exposes what it had counted before its first poll, and goes on from there', async () => {
    const [mocks, store] = [await services(), new MemoryStore()];
    const before = await polledLife(store, { ...gfaEnvironment(mocks), STALE_AFTER: '1000' });
    silence(mocks);
    const after = await life(store, { ...gfaEnvironment(mocks), STALE_AFTER: '1000' });
    const now = await after.scrape();
    for (const { name, labels, value } of before.all(COUNTS)) {
      expect(now.value(name, labels)).toBeGreaterThanOrEqual(value);
    }
    expect(now.all('filer_lock_state').length).toBeGreaterThan(0);
    expect(now.value('filer_api_up', { api: 'gfa' })).toBe(0);
    expect(warnings(after).filter((text) => text.includes('state file'))).toEqual([]);
  });

  test('after an hour exposes what it had counted and no gauge until a poll brings it, and has lost no count', async () => {
    const [mocks, store] = [await services(), new MemoryStore()];
    const before = await polledLife(store, gfaEnvironment(mocks));
    const lift = mocks.fail({ kind: 'status', status: 500, operation: 'data' });
    const after = await life(store, gfaEnvironment(mocks), HOUR_MS);
    const during = await after.scrape();
    expect(during.all(OF_FILERS).filter(({ name }) => !COUNTED.test(name))).toEqual([]);
    for (const name of KEPT) expect(during.sum(name)).toBe(before.sum(name));
    lift();
    const now = await until('a poll that succeeds', async () => {
      const scraped = await after.scrape();
      return scraped.value('filer_api_up', { api: 'gfa' }) === 1 && scraped;
    });
    for (const name of KEPT) expect(now.sum(name)).toBeGreaterThanOrEqual(before.sum(name));
  });

  test('after more than FORGET_AFTER exposes nothing until a poll brings it', async () => {
    const [mocks, store] = [await services(), new MemoryStore()];
    await polledLife(store, gfaEnvironment(mocks));
    mocks.fail({ kind: 'status', status: 500, operation: 'data' });
    const after = await life(store, gfaEnvironment(mocks), 25 * HOUR_MS);
    expect((await after.scrape()).all(OF_FILERS)).toEqual([]);
  });

  test('with another client key begins from zero, and the file is put aside', async () => {
    const [mocks, store] = [await services(), new MemoryStore()];
    await polledLife(store, gfaEnvironment(mocks));
    silence(mocks);
    const after = await life(store, { ...gfaEnvironment(mocks), GFA_CLIENT_KEY: 'another' });
    expect((await after.scrape()).all(COUNTS)).toEqual([]);
    expect(store.asides).toHaveLength(1);
    expect(warnings(after)).toContain('The state file cannot be used: it was moved aside, and counting starts again.');
  });

  test('goes on counting notifications, those told while it was down among them', async () => {
    const [mocks, store] = [await services({ appliances: 100 }), new MemoryStore()];
    const environment = { ...portalEnvironment(mocks), PORTAL_COLLECTORS: 'notifications=10s' };
    const counted = async (of: Live, least: number) =>
      until('notifications', async () => {
        const sum = (await of.scrape()).sum('filer_notifications_by_severity_total');
        return sum >= least && sum;
      });
    const first = await life(store, environment);
    const before = await counted(first, 100);
    await first.stop();
    const after = await life(store, environment);
    expect(await counted(after, 1)).toBeGreaterThanOrEqual(before);
    await counted(after, before + 1);
    expect(warnings(after).filter((text) => text.includes('state file'))).toEqual([]);
  });

  test('knows what the day’s budget had spent', async () => {
    const [mocks, store] = [await services(), new MemoryStore()];
    const environment = { ...portalEnvironment(mocks), PORTAL_DAILY_LIMIT: '100000' };
    const remaining = async (of: Live) => (await of.scrape()).value('filer_exporter_daily_budget_remaining') ?? 0;
    const first = await life(store, environment);
    await until('some requests', async () => (await remaining(first)) <= 100_000 - 10);
    await first.stop();
    mocks.fail({ kind: 'status', status: 503 });
    const after = await life(store, environment);
    expect(await remaining(after)).toBeLessThanOrEqual(100_000 - 10);
    await after.stop();
    const dayLater = await life(store, environment, 25 * HOUR_MS);
    expect(await remaining(dayLater)).toBeGreaterThan(100_000 - 10);
  });
});

describe('the buckets of the event histograms', () => {
  const bounds = (scraped: Scrape) =>
    new Set(scraped.all('filer_propagation_duration_seconds_bucket').map(({ labels }) => labels.le));

  test.each([
    ['those of EVENT_BUCKETS', { EVENT_BUCKETS: '90s,1h' }, ['90.0', '3600.0', '+Inf']],
    ['none but the infinite one with EVENT_HISTOGRAMS=false', { EVENT_HISTOGRAMS: 'false' }, ['+Inf']],
  ])('are %s', async (_, settings, expected) => {
    const scraped = await polledLife(new MemoryStore(), { ...gfaEnvironment(await services()), ...settings });
    expect(bounds(scraped)).toEqual(new Set(expected));
    expect(scraped.sum('filer_propagation_duration_seconds_sum')).toBeGreaterThan(0);
  });
});
