import { describe, expect, test } from 'vitest';
import { HOUR, MINUTE, World } from '../harness/world.ts';
import { isAtLeast } from '../support/program.ts';
import type { Scrape } from '../support/scrape.ts';

const COUNTS = /^filer_(?:lock_events_total|(?:lock|propagation)_duration_seconds_(?:sum|count))$/;
const OF_FILERS = /^filer_(?:lock|propagation|gfa|volume)_/;
const COUNTED = /_(?:total|bucket|sum|count)$/;
const KEPT = ['filer_lock_events_total', 'filer_propagation_duration_seconds_count'] as const;

const warnings = ({ log }: World) => log.filter(({ level }) => isAtLeast(level, 'warn')).map(({ msg }) => msg);

/** An exporter of the file acceleration service that has polled and stopped, and what its last scrape said. */
async function polledLife(environment: Readonly<Record<string, string>> = {}) {
  const world = await World.begin({ appliances: 4, gfa: true, portal: false, state: true, environment });
  const before = await world.until('events', async () => {
    const { scrape } = await world.sees();
    return scrape.all(COUNTS).length > 0 && scrape;
  });
  await world.stops();
  return { world, before };
}

/** From now on the service answers nobody. */
const silence = (world: World) => world.fails({ kind: 'status', status: 500, operation: 'data' });

describe('a program that is started again with its state file', () => {
  test('exposes what it had counted before its first poll, and goes on from there', async () => {
    const { world, before } = await polledLife({ STALE_AFTER: '1000' });
    silence(world);
    await world.starts();
    const { scrape: now } = await world.sees();
    for (const { name, labels, value } of before.all(COUNTS)) {
      expect(now.value(name, labels)).toBeGreaterThanOrEqual(value);
    }
    expect(now.all('filer_lock_state').length).toBeGreaterThan(0);
    expect(now.value('filer_api_up', { api: 'gfa' })).toBe(0);
    expect(warnings(world).filter((text) => text.includes('state file'))).toEqual([]);
  });

  test('after an hour exposes what it had counted and no gauge until a poll brings it, and has lost no count', async () => {
    const { world, before } = await polledLife();
    const lift = silence(world);
    await world.clock.advance(HOUR);
    await world.starts();
    const { scrape: during } = await world.sees();
    expect(during.all(OF_FILERS).filter(({ name }) => !COUNTED.test(name))).toEqual([]);
    for (const name of KEPT) expect(during.sum(name)).toBe(before.sum(name));
    lift();
    const now = await world.until('a poll that succeeds', async () => {
      const { scrape } = await world.sees();
      return scrape.value('filer_api_up', { api: 'gfa' }) === 1 && scrape;
    });
    for (const name of KEPT) expect(now.sum(name)).toBeGreaterThanOrEqual(before.sum(name));
  });

  test('after more than FORGET_AFTER exposes nothing until a poll brings it', async () => {
    const { world } = await polledLife();
    world.judge.forgives = () => true;
    silence(world);
    await world.clock.advance(25 * HOUR);
    await world.starts();
    expect((await world.sees()).scrape.all(OF_FILERS)).toEqual([]);
  });

  test('with another client key begins from zero, and the file is put aside', async () => {
    const { world } = await polledLife();
    world.judge.forgives = () => true;
    silence(world);
    await world.starts({ GFA_CLIENT_KEY: 'another' });
    expect((await world.sees()).scrape.all(COUNTS)).toEqual([]);
    expect(world.disk.asides).toHaveLength(1);
    expect(warnings(world)).toContain('The state file cannot be used: it was moved aside, and counting starts again.');
  });

  test('goes on counting notifications, those told while it was down among them', async () => {
    const environment = { PORTAL_COLLECTORS: 'notifications=1m' };
    const world = await World.begin({ appliances: 100, series: [], state: true, environment });
    const counted = (least: number) =>
      world.until('notifications', async () => {
        const sum = (await world.sees()).scrape.sum('filer_notifications_by_severity_total');
        return sum >= least && sum;
      });
    const before = await counted(100);
    await world.restarts();
    // They are shown with the first poll.
    await world.clock.advance(MINUTE);
    expect(await counted(1)).toBeGreaterThanOrEqual(before);
    await counted(before + 1);
    expect(warnings(world).filter((text) => text.includes('state file'))).toEqual([]);
  });

  test('knows what the day’s budget had spent', async () => {
    const world = await World.begin({ appliances: 4, state: true, environment: { PORTAL_DAILY_LIMIT: '100000' } });
    const remaining = async () => (await world.sees()).scrape.value('filer_exporter_daily_budget_remaining') ?? 0;
    await world.until('some requests', async () => (await remaining()) <= 100_000 - 10);
    world.fails({ kind: 'status', status: 503 });
    await world.restarts();
    expect(await remaining()).toBeLessThanOrEqual(100_000 - 10);
    await world.restarts(25 * HOUR);
    expect(await remaining()).toBeGreaterThan(100_000 - 10);
  });
});

describe('the buckets of the event histograms', () => {
  const bounds = (scraped: Scrape) =>
    new Set(scraped.all('filer_propagation_duration_seconds_bucket').map(({ labels }) => labels.le));

  test.each([
    ['those of EVENT_BUCKETS', { EVENT_BUCKETS: '90s,1h' }, ['90.0', '3600.0', '+Inf']],
    ['none but the infinite one with EVENT_HISTOGRAMS=false', { EVENT_HISTOGRAMS: 'false' }, ['+Inf']],
  ])('are %s', async (_, settings, expected) => {
    const scraped = (await polledLife(settings)).before;
    expect(bounds(scraped)).toEqual(new Set(expected));
    expect(scraped.sum('filer_propagation_duration_seconds_sum')).toBeGreaterThan(0);
  });
});
