import { expect, test } from 'vitest';
import { DAY, HOUR, SECOND } from '../harness/duration.ts';
import { type Scenario, simulate } from './simulate.ts';

const WELL = 'gfa up, 3 filers; portal up, 3 reporting, 9 series';
type Fields = Readonly<Record<string, unknown>>;

/** Dates the records of one group of `GET /data` otherwise. */
function dated(run: Scenario, group: 'filers' | 'locks' | 'propagation', byMs: number): () => void {
  return run.edit(/^\/data/, (body) => {
    const { metrics, ...rest } = body as { metrics: readonly Record<string, readonly Fields[]>[] };
    const change = (record: Fields) => {
      return { ...record, timestamp: new Date(Date.parse(String(record.timestamp)) + byMs).toISOString() };
    };
    return { ...rest, metrics: metrics.map((part) => ({ ...part, [group]: (part[group] ?? []).map(change) })) };
  });
}

test.each([
  ['set back a day', -DAY],
  ['set forward a century', 36_525 * DAY],
])('a clock of this machine that is %s changes nothing that is shown, and is right again', async (_, stepMs) => {
  const run = await simulate({ gfa: true });
  await run.advance('4m');
  run.disturb(() => false)();
  run.clock.step(stepMs);
  expect((await run.advance('12m')).standing).toBe(WELL);
  run.clock.step(-stepMs);
  expect((await run.advance('12m')).standing).toBe(WELL);
});

test('a machine that begins in 1970 and gets the time after ten minutes', async () => {
  const run = await simulate({ gfa: true, later: true });
  const sinceMs = run.clock.now();
  run.clock.step(-sinceMs);
  await run.start();
  expect((await run.advance('4m')).standing).toBe(WELL);
  run.clock.step(sinceMs);
  expect((await run.advance('10m')).standing).toBe(WELL);
});

test('services whose clock is an hour ahead, and then an hour behind, are up, and all that they report is shown', async () => {
  const run = await simulate({ gfa: true, services: { clockAheadMs: HOUR } });
  const ahead = await run.advance('10m');
  expect(ahead.standing).toBe(WELL);
  expect(ahead.value('filer_exporter_clock_skew_seconds', { api: 'portal' })).toBeCloseTo(HOUR / SECOND, -1);
  run.services.set({ clockAheadMs: -HOUR });
  run.disturb()();
  expect((await run.advance('16m')).standing).toBe(WELL);
});

test('check-ins that are dated a day ahead, and events eight hours, are replaced by the next response', async () => {
  const run = await simulate({ gfa: true, portal: false });
  await run.advance('5m');
  for (const [group, byMs] of [
    ['filers', DAY],
    ['locks', 8 * HOUR],
    ['propagation', -8 * HOUR],
  ] as const) {
    const end = dated(run, group, byMs);
    await run.advance('4m');
    end();
  }
  const scrape = await run.advance('4m');
  const newest = run.clock.now() / SECOND;
  for (const { value } of scrape.all('filer_last_checkin_timestamp_seconds')) {
    expect(value).toBeLessThanOrEqual(newest);
    expect(newest - value).toBeLessThan(200);
  }
});

test('one empty and one half list of appliances, jobs and connections take nothing away and count nothing twice', async () => {
  const env = {
    PORTAL_COLLECTORS: 'telemetry,volumes,edges,jobs,notifications,volume_telemetry=5m',
    PORTAL_DISCOVERY_INTERVAL: '3m',
  };
  const afterLists = async (shares: readonly number[]) => {
    const run = await simulate({ env, services: { jobsFail: true } });
    await run.advance('6m');
    for (const share of shares) {
      const shortened = new Set<string>();
      const end = run.edit(/^\/(?:serials|edges|jobs|notifications|volume_connections)(?:\?|$)/, (body, { path }) => {
        const { items, ...rest } = body as { items: readonly unknown[] };
        if (shortened.has(path)) return body;
        shortened.add(path);
        return { ...rest, items: items.slice(0, items.length * share) };
      });
      await run.advance('6m');
      end();
    }
    const scrape = await run.advance('6m');
    const counted = ['filer_jobs_finished_total', 'filer_notifications_by_severity_total'];
    return [scrape.standing, ...counted.map((name) => scrape.sum(name))];
  };
  const whole = await afterLists([1, 1]);
  expect(whole[0]).toBe('portal up, 3 reporting, 9 series');
  expect(whole).not.toContain(0);
  expect(await afterLists([0, 0.5])).toEqual(whole);
});
