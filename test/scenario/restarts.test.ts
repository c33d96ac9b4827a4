import { expect, test } from 'vitest';
import { SECOND } from '../harness/duration.ts';
import { simulate } from './simulate.ts';

const WELL = 'gfa up, 3 filers; portal up, 3 reporting, 9 series';
const EVENTS = 'filer_lock_events_total';

test.each(['stop', 'kill'] as const)(
  'events count once over a %s: counters start at zero, and known events do not count again',
  async (how) => {
    const run = await simulate({ gfa: true, state: true });
    const seen = new Map<string, object>();
    // Each response has the events of all responses before, too.
    run.services.edit(/^\/data/, (body) => {
      const { metrics, ...rest } = body as { metrics: [{ locks: object[] }] };
      for (const event of metrics[0].locks) seen.set(JSON.stringify(event), event);
      return { ...rest, metrics: [{ ...metrics[0], locks: [...seen.values()] }] };
    });
    const before = (await run.advance('12m')).sum(EVENTS);
    expect(before).toBe(seen.size);
    await run.restart(how, '2m');
    const known = seen.size;
    const after = await run.advance('12m');
    // Events of the last minute before a kill may not have been saved.
    const unsaved = how === 'kill' ? 3 : 0;
    expect(after.sum(EVENTS)).toBeGreaterThanOrEqual(seen.size - known);
    expect(after.sum(EVENTS)).toBeLessThanOrEqual(seen.size - known + unsaved);
    expect(after.standing).toBe(WELL);
  },
);

test('after a restart known series exist with zero before the first poll, so that increase() sees the next event', async () => {
  const run = await simulate({ gfa: true, portal: false, state: true });
  const series = (await run.advance('12m')).all(EVENTS).length;
  const end = run.fail({ service: 'gfa', how: 'hang' });
  await run.restart('stop');
  const scrape = await run.advance('1s');
  expect([scrape.all(EVENTS).length, scrape.sum(EVENTS)]).toEqual([series, 0]);
  end();
});

test('the spent quota outlasts a restart', async () => {
  const run = await simulate({ appliances: 12, state: true });
  const left = () =>
    run.scrape().then((scrape) => scrape.value('filer_exporter_daily_quota_remaining', { api: 'portal' }) ?? 0);
  await run.advance('10m');
  const before = await left();
  expect(before).toBeLessThan(1_000_000 - 100);
  await run.restart('stop', '5m');
  expect(await left()).toBeLessThanOrEqual(before);
});

test('the disk is full for a quarter of an hour: everything is shown, and the log says so once', async () => {
  const run = await simulate({ gfa: true, state: true });
  await run.advance('4m');
  run.disk.fault = Object.assign(new Error('ENOSPC: no space left on device'), { code: 'ENOSPC' });
  const scrape = await run.advance('15m');
  expect(scrape.standing).toBe(WELL);
  expect(scrape.value('filer_exporter_state_file_errors_total')).toBeGreaterThan(0);
  run.disk.fault = undefined;
  await run.advance('5m');
  const lines = run.log.filter(({ msg }) => msg.includes('state file'));
  expect(lines.map(({ level }) => level)).toEqual(['warn', 'info']);
});

test('an exporter that the portal rejects from the start is ready, so that a rollout goes on', async () => {
  const run = await simulate({ gfa: true, later: true });
  run.fail({ service: 'portal', status: 429, headers: { 'retry-after': '900' } });
  await run.start();
  expect((await run.advance('1m')).standing).toMatch(/^gfa up, 3 filers; portal down/);
  expect((await run.get('/readyz')).status).toBe(200);
});

test('before the first polls have ended no service is up and nothing of them is shown; then the exporter is ready', async () => {
  const run = await simulate({ gfa: true, later: true });
  run.latencyMs = 10 * SECOND;
  await run.start();
  const scrape = await run.scrape();
  expect(scrape.all('filer_api_up').map(({ value }) => value)).toEqual([0, 0]);
  expect(scrape.names.filter((name) => /^filer_(?!api_|exporter_)/.test(name))).toEqual([]);
  expect([(await run.get('/readyz')).status, (await run.get('/healthz')).status]).toEqual([503, 200]);
  run.latencyMs = 0;
  await run.advance('2m');
  expect((await run.get('/readyz')).status).toBe(200);
});
