import { expect, test } from 'vitest';
import { collectorDefinitions } from '../../../../src/services/portal/collectors.ts';
import type { ServiceRequest } from '../../../../src/transport/json-client.ts';
import { valuesOf } from '../../../harness/sample-values.ts';
import { FakePortal, MINUTE, poll, type Reply, taskOf } from './fake-portal.ts';

const START = Date.UTC(2026, 2, 2, 10);

const at = (minutes: number) => new Date(START + minutes * MINUTE).toISOString();

/** One task of the account, polled by hand. */
function accountOf(operation: string, reply: (request: ServiceRequest) => Reply) {
  const portal = new FakePortal(reply);
  const collector = portal.collector({ collectors: collectorDefinitions });
  collector.context.appliances.markInventoryRead();
  const own = () => {
    portal.requests.length = 0;
    return poll(taskOf(collector, operation));
  };
  return { portal, collector, poll: own, values: async () => valuesOf((await own()).samples) };
}

test('a job that finishes counts once, also if it was never listed unfinished', async () => {
  const times = { created_at: at(-60), last_updated_at: at(3) };
  const job = (id: string, state: string) => ({ id, resource: 'edge', action: 'restart', state, ...times });
  const FINISHED = 'filer_jobs_finished_total{resource="edge",action="restart",state="failed"}';
  const account = accountOf('jobs', () => ({ items: [job('j', 'in_progress')] }));
  expect((await account.values())[FINISHED]).toBe(0);
  await account.portal.clock.advance(5 * MINUTE);
  account.portal.reply = () => ({ items: [job('j', 'failed'), job('k', 'failed')] });
  expect([(await account.values())[FINISHED], (await account.values())[FINISHED]]).toEqual([2, 2]);
});

const notice = (id: number | string, minutes: number, more: object = {}) => ({
  id: String(id),
  severity: 'ALERT',
  category: 'Network',
  generated_at: at(minutes),
  ...more,
});
const ALERTS = 'filer_notifications_by_severity_total{severity="alert"}';

/** Answers in pages as the portal does: sorted by time, with a cursor, and at most `most` records in a page. */
function pages(all: readonly ReturnType<typeof notice>[], most = Number.POSITIVE_INFINITY) {
  let found = all;
  return ({ query = {} }: ServiceRequest): Reply => {
    const size = Math.min(most, Number(query.limit ?? 50));
    const from = Number(query.iterator_id ?? 0);
    if (from === 0) {
      found = all
        .filter(({ generated_at }) => generated_at >= String(query.start_date))
        .sort((one, other) => (one.generated_at < other.generated_at ? -1 : 1));
    }
    const next = from + size < found.length ? String(from + size) : null;
    return { items: found.slice(from, from + size), metadata: { iterator_id: next } };
  };
}

test('notifications count once each, although every query overlaps with the one before', async () => {
  const account = accountOf('notifications', pages([notice(1, 1), notice(2, 2)]));
  await account.portal.clock.advance(5 * MINUTE);
  for (let round = 0; round < 3; round += 1) expect((await account.values())[ALERTS]).toBe(2);
  // A quarter of an hour before the newest one, because a notification may be listed late.
  expect(account.portal.requests[0]?.query?.start_date).toBe(at(2 - 15));
});

test('notifications from before the start make their series with 0', async () => {
  const account = accountOf('notifications', pages([notice('old', -1)]));
  const result = await account.poll();
  const values = valuesOf(result.samples);
  expect(values[ALERTS]).toBe(0);
  expect(values['filer_notification_latest_timestamp_seconds{severity="alert"}']).toBe((START - MINUTE) / 1000);
  expect([result.drops.size, result.empty]).toEqual([0, false]);
  // What is listed only after a whole query is late.
  account.portal.reply = pages([notice('older', -2)]);
  expect((await account.poll()).drops.get('late')).toBe(1);
});

test.each([
  [1_000, 2_500],
  [5, 2_000],
])(
  'notifications 2,500 of as many appliances all count, in pages of %d, of which one poll reads %d',
  async (most, first) => {
    const all = Array.from({ length: 2_500 }, (_, index) =>
      notice(index, index / 42, { appliance_name: `edge-${index}`, sub_category: `Sub ${index % 55}` }),
    );
    const account = accountOf('notifications', pages(all, most));
    await account.portal.clock.advance(60 * MINUTE);
    expect((await account.values())[ALERTS]).toBe(first);
    expect((await account.values())[ALERTS]).toBe(2_500);
    await account.portal.clock.advance(5 * MINUTE);
    account.portal.reply = pages([...all, notice('next', 62)], most);
    const values = await account.values();
    expect(values[ALERTS]).toBe(2_501);
    const series = Object.keys(values).filter((name) => name.startsWith('filer_notifications_total'));
    expect([series.length, series.filter((name) => name.includes('other'))]).toEqual([2_501, []]);
  },
);

test('notifications continue at the newest one seen after a page that failed', async () => {
  const answer = pages([notice(1, 1), notice(2, 30)], 1);
  const account = accountOf('notifications', (request) =>
    request.query?.iterator_id === undefined ? answer(request) : { status: 503 },
  );
  await account.portal.clock.advance(40 * MINUTE);
  await expect(account.poll()).rejects.toThrow('503');
  account.portal.reply = answer;
  expect((await account.values())[ALERTS]).toBe(2);
  expect(account.portal.requests[0]?.query?.start_date).toBe(at(1));
});

test('notifications with a time in the future hide none that come until then', async () => {
  const account = accountOf('notifications', pages([notice('future', 24 * 60)]));
  await account.portal.clock.advance(MINUTE);
  const values = await account.values();
  expect(values['filer_notification_latest_timestamp_seconds{severity="alert"}']).toBe((START + MINUTE) / 1000);
  account.portal.reply = pages([notice('future', 24 * 60), notice('now', 2)]);
  await account.portal.clock.advance(5 * MINUTE);
  expect((await account.values())[ALERTS]).toBe(2);
});

test('notifications after a month without a poll are requested as far back as the portal accepts', async () => {
  const account = accountOf('notifications', pages([]));
  await account.poll();
  await account.portal.clock.advance(40 * 24 * 60 * MINUTE);
  await account.poll();
  const start = Date.parse(String(account.portal.requests[0]?.query?.start_date));
  expect(account.portal.clock.now() - start).toBe((30 * 24 * 60 - 1) * MINUTE);
});

const credential = (id: number) => ({ id: String(id), appliance_id: 'a', cred_type: 'azure', status: 'synced' });
const SYNCED = 'filer_cloud_credentials{status="synced",type="azure",in_use="false"}';

test('a list in pages counts a record once that two pages list', async () => {
  const account = accountOf('cloud_credentials', ({ query = {} }) => ({
    items: [credential(1), credential(query.iterator_id === undefined ? 2 : 1)],
    metadata: { iterator_id: query.iterator_id === undefined ? 'next' : null },
  }));
  const { samples, drops } = await account.poll();
  expect(valuesOf(samples)[SYNCED]).toBe(2);
  expect(drops.get('duplicate')).toBe(2);
});

test.each([
  ['does not end says so', 1, { name: 'RequestError', reason: 'oversize', problem: 'long_list' }],
  ['repeats its cursor is not as documented', 0, { name: 'SchemaError' }],
])('a list in pages that %s', async (_, step, error) => {
  let cursor = 0;
  const account = accountOf('cloud_credentials', () => {
    cursor += step;
    return { items: [], metadata: { iterator_id: String(cursor) } };
  });
  await expect(account.poll()).rejects.toMatchObject(error);
});

test('a list in pages is requested in pages of the portal’s own size if it rejects larger ones', async () => {
  const account = accountOf('cloud_credentials', ({ query = {} }) =>
    query.limit === undefined ? { items: [credential(1)] } : { status: 422 },
  );
  expect((await account.values())[SYNCED]).toBe(1);
});

test('a key that has expired does not hide the next expiry', async () => {
  const keys = (...expirations: readonly (string | null)[]) => expirations.map((expiration) => ({ expiration }));
  const account = accountOf('iam_user_keys', () => ({}));
  const NEXT = 'filer_iam_next_key_expiry_timestamp_seconds{kind="user"}';
  account.portal.reply = () => ({ items: keys(at(-60), at(90), at(60), null) });
  expect((await account.values())[NEXT]).toBe((START + 60 * MINUTE) / 1000);
  await account.portal.clock.advance(61 * MINUTE);
  expect((await account.values())[NEXT]).toBe((START + 90 * MINUTE) / 1000);
  account.portal.reply = () => ({ items: keys(at(-60), null) });
  expect((await account.values())[NEXT]).toBeUndefined();
});

test('a licence without telemetry is a warning until the licence has it', async () => {
  const account = accountOf('account_license', () => ({}));
  const warnings = [];
  for (const premium of [false, null, false, true]) {
    account.portal.reply = () => ({ ops_iq_premium: premium });
    await account.poll();
    warnings.push(account.collector.warnings.length);
  }
  expect(warnings).toEqual([1, 0, 1, 0]);
});
