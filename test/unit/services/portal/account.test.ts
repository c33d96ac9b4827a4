import { describe, expect, test } from 'vitest';
import type { PollResult } from '../../../../src/contract/poll-result.ts';
import { collectorDefinitions } from '../../../../src/services/portal/collectors.ts';
import type { ServiceRequest } from '../../../../src/transport/json-client.ts';
import { valuesOf } from '../../../harness/sample-values.ts';
import { FakePortal, MINUTE, poll, type Reply, taskOf } from './fake-portal.ts';

const START = Date.UTC(2026, 2, 2, 10);

const at = (minutes: number) => new Date(START + minutes * MINUTE).toISOString();

/** One task of the account, polled by hand. */
class Account {
  readonly portal: FakePortal;
  readonly collector;
  readonly #task;

  constructor(operation: string, reply: (request: ServiceRequest) => Reply) {
    this.portal = new FakePortal(reply);
    this.collector = this.portal.collector({ collectors: collectorDefinitions });
    this.collector.context.appliances.markInventoryRead();
    this.#task = taskOf(this.collector, operation);
  }

  poll(): Promise<PollResult> {
    this.portal.requests.length = 0;
    return poll(this.#task);
  }

  async values() {
    return valuesOf((await this.poll()).samples);
  }

  /** Answers with this list from now on. */
  set items(items: readonly unknown[]) {
    this.portal.reply = () => ({ items });
  }
}

const empty = () => ({ items: [] });

describe('a job that finishes', () => {
  const job = (state: string, more: object = {}) => ({
    id: 'j',
    resource: 'edge',
    action: 'restart',
    state,
    created_at: at(-60),
    last_updated_at: at(3),
    ...more,
  });
  const FINISHED = 'filer_jobs_finished_total{resource="edge",action="restart",state="failed"}';

  test('counts once, also if it was never listed unfinished', async () => {
    const account = new Account('jobs', () => ({ items: [job('in_progress')] }));
    expect((await account.values())[FINISHED]).toBe(0);
    await account.portal.clock.advance(5 * MINUTE);
    account.items = [job('failed'), job('failed', { id: 'k' })];
    expect((await account.values())[FINISHED]).toBe(2);
    expect((await account.values())[FINISHED]).toBe(2);
  });

  test('has states with 0 for each kind of job, and an undocumented state is other but not finished', async () => {
    const account = new Account('jobs', () => ({ items: [job('paused')] }));
    const values = await account.values();
    expect(Object.keys(values).filter((series) => series.includes('state="other"'))).toEqual([
      'filer_jobs{resource="edge",action="restart",state="other"}',
    ]);
    expect(values[FINISHED]).toBe(0);
    expect(values['filer_jobs{resource="edge",action="restart",state="in_progress"}']).toBe(0);
  });

  test('is no longer the oldest unfinished one', async () => {
    const items = [job('in_progress'), job('in_progress', { id: 'k', created_at: at(-5) }), job('failed', { id: 'l' })];
    const account = new Account('jobs', () => ({ items }));
    const OLDEST = 'filer_job_oldest_unfinished_timestamp_seconds{resource="edge"}';
    expect((await account.values())[OLDEST]).toBe((START - 60 * MINUTE) / 1000);
    account.items = [job('failed')];
    expect((await account.values())[OLDEST]).toBeUndefined();
  });
});

describe('notifications', () => {
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

  test('count once each, although every query overlaps with the one before', async () => {
    const account = new Account('notifications', pages([notice(1, 1), notice(2, 2)]));
    await account.portal.clock.advance(5 * MINUTE);
    for (let round = 0; round < 3; round += 1) expect((await account.values())[ALERTS]).toBe(2);
    // A quarter of an hour before the newest one, because a notification may be listed late.
    expect(account.portal.requests[0]?.query?.start_date).toBe(at(2 - 15));
  });

  test('from before the start make their series with 0', async () => {
    const account = new Account('notifications', pages([notice('old', -1)]));
    const result = await account.poll();
    const values = valuesOf(result.samples);
    expect(values[ALERTS]).toBe(0);
    expect(values['filer_notification_latest_timestamp_seconds{severity="alert"}']).toBe((START - MINUTE) / 1000);
    expect(result.drops.size).toBe(0);
    // What is listed only after a whole query is late.
    account.portal.reply = pages([notice('older', -2)]);
    expect((await account.poll()).drops.get('late')).toBe(1);
  });

  test.each([
    [1_000, 2_500],
    [5, 2_000],
  ])('2,500 of as many appliances all count, in pages of %d, of which one poll reads %d', async (most, first) => {
    const all = Array.from({ length: 2_500 }, (_, index) =>
      notice(index, index / 42, { appliance_name: `edge-${index}`, sub_category: `Sub ${index % 55}` }),
    );
    const account = new Account('notifications', pages(all, most));
    await account.portal.clock.advance(60 * MINUTE);
    expect((await account.values())[ALERTS]).toBe(first);
    expect((await account.values())[ALERTS]).toBe(2_500);
    await account.portal.clock.advance(5 * MINUTE);
    account.portal.reply = pages([...all, notice('next', 62)], most);
    const values = await account.values();
    expect(values[ALERTS]).toBe(2_501);
    const series = Object.keys(values).filter((name) => name.startsWith('filer_notifications_total'));
    expect([series.length, series.filter((name) => name.includes('other'))]).toEqual([2_501, []]);
  });

  test('continue at the newest one seen after a page that failed', async () => {
    const answer = pages([notice(1, 1), notice(2, 30)], 1);
    const account = new Account('notifications', (request) =>
      request.query?.iterator_id === undefined ? answer(request) : { status: 503 },
    );
    await account.portal.clock.advance(40 * MINUTE);
    await expect(account.poll()).rejects.toThrow('503');
    account.portal.reply = answer;
    expect((await account.values())[ALERTS]).toBe(2);
    expect(account.portal.requests[0]?.query?.start_date).toBe(at(1));
  });

  test('with a time in the future hide none that come until then', async () => {
    const account = new Account('notifications', pages([notice('future', 24 * 60)]));
    await account.portal.clock.advance(MINUTE);
    const values = await account.values();
    expect(values['filer_notification_latest_timestamp_seconds{severity="alert"}']).toBe((START + MINUTE) / 1000);
    account.portal.reply = pages([notice('future', 24 * 60), notice('now', 2)]);
    await account.portal.clock.advance(5 * MINUTE);
    expect((await account.values())[ALERTS]).toBe(2);
  });

  test('after a month without a poll are requested as far back as the portal accepts', async () => {
    const account = new Account('notifications', pages([]));
    await account.poll();
    await account.portal.clock.advance(40 * 24 * 60 * MINUTE);
    await account.poll();
    const start = Date.parse(String(account.portal.requests[0]?.query?.start_date));
    expect(account.portal.clock.now() - start).toBe((30 * 24 * 60 - 1) * MINUTE);
  });
});

describe('a list in pages', () => {
  const credential = (id: number) => ({ id: String(id), appliance_id: 'a', cred_type: 'azure', status: 'synced' });
  const SYNCED = 'filer_cloud_credentials{status="synced",type="azure",in_use="false"}';

  test.each([1_000, 50])('of 1,050 credentials is read to its end, %d in a page', async (most) => {
    const account = new Account('cloud_credentials', ({ query = {} }) => {
      const [size, from] = [Math.min(most, Number(query.limit)), Number(query.iterator_id ?? 0)];
      const items = Array.from({ length: Math.min(size, 1_050 - from) }, (_, index) => credential(from + index));
      return { items, metadata: { iterator_id: from + size < 1_050 ? String(from + size) : null } };
    });
    expect((await account.values())[SYNCED]).toBe(1_050);
  });

  test('counts a record once that two pages list', async () => {
    const account = new Account('cloud_credentials', ({ query = {} }) => ({
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
  ])('that %s', async (_, step, error) => {
    let cursor = 0;
    const account = new Account('cloud_credentials', () => {
      cursor += step;
      return { items: [], metadata: { iterator_id: String(cursor) } };
    });
    await expect(account.poll()).rejects.toMatchObject(error);
  });

  test('is requested in pages of the portal’s own size if it rejects larger ones', async () => {
    const account = new Account('cloud_credentials', ({ query = {} }) =>
      query.limit === undefined ? { items: [credential(1)] } : { status: 422 },
    );
    expect((await account.values())[SYNCED]).toBe(1);
  });
});

test('a key that has expired does not hide the next expiry', async () => {
  const keys = (...expirations: readonly (string | null)[]) => expirations.map((expiration) => ({ expiration }));
  const account = new Account('iam_user_keys', empty);
  const NEXT = 'filer_iam_next_key_expiry_timestamp_seconds{kind="user"}';
  account.items = keys(at(-60), at(90), at(60), null);
  expect((await account.values())[NEXT]).toBe((START + 60 * MINUTE) / 1000);
  await account.portal.clock.advance(61 * MINUTE);
  expect((await account.values())[NEXT]).toBe((START + 90 * MINUTE) / 1000);
  account.items = keys(at(-60), null);
  expect((await account.values())[NEXT]).toBeUndefined();
});

test('a licence without telemetry is a warning until the licence has it', async () => {
  const account = new Account('account_license', empty);
  const warnings = [];
  for (const premium of [false, null, false, true]) {
    account.portal.reply = () => ({ ops_iq_premium: premium });
    await account.poll();
    warnings.push(account.collector.warnings.length);
  }
  expect(warnings).toEqual([1, 0, 1, 0]);
});
