import { expect, test } from 'vitest';
import { MINUTE, World } from '../harness/world.ts';
import { gfaEnvironment } from '../support/real-services.ts';

/** The lines of the log about a note, as `warn` and `info`. */
const told = ({ log }: World, warning: string) =>
  log.flatMap((line) =>
    line.warning === warning ? [{ level: line.level, api: line.api, msg: String(line.msg) }] : [],
  );

/** The texts of the status page. */
const pageOf = async (world: World) => (await world.page('/status')).text.replaceAll('&#39;', "'");

test('a clock that is ten minutes off is one line of the log and of the page, until it is right again', async () => {
  const world = await World.begin({ gfa: true, portal: false, variations: { clockAheadMs: 10 * MINUTE } });
  await world.until('the clock to be told', () => told(world, 'clock_skew').length > 0);
  expect((await world.sees()).scrape.value('filer_exporter_clock_skew_seconds', { api: 'gfa' })).toBeCloseTo(600, -1);
  const [{ msg = '' } = {}] = told(world, 'clock_skew');
  expect(msg).toMatch(/^The clock of this machine is about \d+ s behind that of the service/);
  expect(await pageOf(world)).toContain(msg);
  await world.passes(10 * MINUTE);
  world.act();
  world.services.vary({ clockAheadMs: 0 });
  await world.until('the clock to be right', () => told(world, 'clock_skew').length > 1);
  expect(await pageOf(world)).not.toContain('The clock of this machine');
  await world.passes(10 * MINUTE);
  expect(told(world, 'clock_skew').map(({ level }) => level)).toEqual(['warn', 'info']);
});

test('an account that is throttled has one line in the log and on the page, and a metric, until the limit is free again', async () => {
  const world = await World.begin({
    appliances: 12,
    variations: { rateLimit: { kind: 'fixed-window', requests: 2, windowMs: 30_000 } },
    environment: { PORTAL_COLLECTORS: 'telemetry' },
  });
  // Those of a limit that is known and not of this one.
  world.judge.excused.push('refused: ', 'slow: ', 'unasked: ', 'unwell: ', 'stale: ');
  await world.until('the throttling to be told', () => told(world, 'throttled').length > 0);
  const [{ msg = '' } = {}] = told(world, 'throttled');
  expect(await pageOf(world)).toContain(msg);
  expect((await world.sees()).scrape.value('filer_exporter_account_throttled', { api: 'portal' })).toBe(1);
  await world.passes(5 * MINUTE);
  expect(told(world, 'throttled')).toHaveLength(1);
  world.act();
  world.services.vary({ rateLimit: null });
  await world.until('the limit to be free', () => told(world, 'throttled').length > 1);
  expect((await world.sees()).scrape.value('filer_exporter_account_throttled', { api: 'portal' })).toBe(0);
  expect(await pageOf(world)).not.toContain(msg);
});

test('a client key header that the service does not know has one line as soon as another client takes the events', async () => {
  const variations = { clientKeyHeader: 'X-Other-client-key' };
  const world = await World.begin({ gfa: true, portal: false, variations });
  const another = { ...gfaEnvironment(world.services), GFA_CLIENT_KEY: 'another', GFA_INTERVAL: '45s' };
  const other = await world.exporter(another);
  await world.until('the header to be told', () => told(world, 'client_key').length > 0);
  const [{ msg = '' } = {}] = told(world, 'client_key');
  expect(msg).toContain('GFA_CLIENT_KEY_HEADER');
  expect(await pageOf(world)).toContain('GFA_CLIENT_KEY_HEADER');
  world.act();
  await other.stop();
  await world.until('the events to come again', () => told(world, 'client_key').length > 1);
  expect(told(world, 'client_key').map(({ level }) => level)).toEqual(['warn', 'info']);
});
