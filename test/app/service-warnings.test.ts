import { expect, test } from 'vitest';
import {
  clock,
  exporter,
  gfaEnvironment,
  type Live,
  portalEnvironment,
  services,
  stopped,
  until,
} from '../support/live.ts';

/** The lines of the log about a note, as `warn` and `info`. */
const told = ({ log }: Live, note: string) =>
  log.flatMap((line) => (line.note === note ? [{ level: line.level, api: line.api, msg: String(line.msg) }] : []));

/** The texts of the status page. */
const pageOf = async (live: Live) => (await live.get('/status')).text.replaceAll('&#39;', "'");

test('a clock that is ten minutes off is one line of the log and of the page, until it is right again', async () => {
  const mocks = await services({ variations: { clockAheadMs: 600_000 } });
  const live = await exporter(gfaEnvironment(mocks));
  await until('the clock to be told', () => told(live, 'clock_skew').length > 0);
  expect((await live.scrape()).value('filer_exporter_clock_skew_seconds', { api: 'gfa' })).toBeCloseTo(600, -1);
  const [{ msg = '' } = {}] = told(live, 'clock_skew');
  expect(msg).toMatch(/^The clock of this machine is about \d+ s behind that of the service/);
  expect(await pageOf(live)).toContain(msg);
  await clock.advance(600_000);
  mocks.vary({ clockAheadMs: 0 });
  await until('the clock to be right', () => told(live, 'clock_skew').length > 1);
  expect(await pageOf(live)).not.toContain('The clock of this machine');
  await clock.advance(600_000);
  expect(told(live, 'clock_skew').map(({ level }) => level)).toEqual(['warn', 'info']);
});

test('an account that is throttled has one line in the log and on the page, and a metric, until the limit is free again', async () => {
  const mocks = await services({
    variations: { rateLimit: { kind: 'fixed-window', requests: 12, windowMs: 30_000 } },
  });
  const live = await exporter({ ...portalEnvironment(mocks), PORTAL_COLLECTORS: 'telemetry' });
  await until('the throttling to be told', () => told(live, 'throttled').length > 0);
  const [{ msg = '' } = {}] = told(live, 'throttled');
  expect(await pageOf(live)).toContain(msg);
  expect((await live.scrape()).value('filer_exporter_account_throttled', { api: 'portal' })).toBe(1);
  await clock.advance(300_000);
  expect(told(live, 'throttled')).toHaveLength(1);
  mocks.vary({ rateLimit: null });
  await until('the limit to be free', () => told(live, 'throttled').length > 1);
  expect((await live.scrape()).value('filer_exporter_account_throttled', { api: 'portal' })).toBe(0);
  expect(await pageOf(live)).not.toContain(msg);
});

test('a client key header that the service does not know has one line as soon as another client takes the events', async () => {
  const mocks = await services({ variations: { clientKeyHeader: 'X-Other-client-key' } });
  const live = await exporter(gfaEnvironment(mocks));
  const other = await exporter({ ...gfaEnvironment(mocks), GFA_CLIENT_KEY: 'another', GFA_INTERVAL: '7s' });
  await until('the header to be told', () => told(live, 'client_key').length > 0);
  const [{ msg = '' } = {}] = told(live, 'client_key');
  expect(msg).toContain('GFA_CLIENT_KEY_HEADER');
  expect(await pageOf(live)).toContain('GFA_CLIENT_KEY_HEADER');
  await stopped(other.app);
  await until('the events to come again', () => told(live, 'client_key').length > 1);
  expect(told(live, 'client_key').map(({ level }) => level)).toEqual(['warn', 'info']);
});
