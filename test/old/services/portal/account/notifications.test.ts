import { beforeEach, describe, expect, test } from 'vitest';
import type { Task } from '../../../../src/contract/task.ts';
import { NotificationLedger } from '../../../../src/services/portal/account/notifications.ts';
import { iterateRecords } from '../../../../src/services/portal/records.ts';
import { valuesOf } from '../../../support/exposition-lines.ts';
import { readAgain, restoreInto } from '../../../support/kept.ts';
import { ManualClock } from '../../../support/manual-clock.ts';
import { going, type MockApi, mockApi, token } from '../../../support/mock-api.ts';
import { portalCollector } from '../../../support/portal-parts.ts';

const START = Date.UTC(2026, 2, 2, 10) / 1000;
const minute = 60;

const isoOf = (seconds: number) => new Date(seconds * 1000).toISOString();

function notice(id: string, at: number, more: object = {}) {
  return { id, severity: 'ALERT', category: 'Network', generated_at: isoOf(at), ...more };
}

function page(items: readonly unknown[], iterator_id: string | null = null) {
  return { items, metadata: { iterator_id, total_items: 0 } };
}

let clock: ManualClock;
let ledger: NotificationLedger;
let drops: string[];

beforeEach(() => {
  beginUnder(0);
  drops = [];
});

/** Begins under a clock that is off by so many seconds. */
function beginUnder(offSeconds: number): void {
  clock = new ManualClock((START + offSeconds) * 1000);
  ledger = new NotificationLedger(clock);
}

/** A whole round: asks and is told this, of one page. */
function round(...items: readonly unknown[]): void {
  absorb(...items);
  ledger.finishQuery(clock.now() / 1000);
}

/** Another process goes on where this one was, after so many seconds. */
function restart(elapsedSeconds: number): void {
  const kept = readAgain(ledger.all());
  ledger = new NotificationLedger(clock);
  restoreInto(ledger, kept, 0, elapsedSeconds * 1000);
}

function absorb(...items: readonly unknown[]): void {
  const note = (reason: string, place: string) => drops.push(`${reason} ${place}`);
  for (const record of iterateRecords(page(items), 'GET /notifications', note)) ledger.add(record, note);
}

function alerts(): number | undefined {
  return valuesOf(ledger.samples())['filer_notifications_by_severity_total{severity="alert"}'];
}

describe('a notification', () => {
  test('counts once, however often it is delivered', () => {
    for (let round = 0; round < 3; round += 1) {
      absorb(notice('a', START + 1), notice('b', START + 2));
      ledger.finishQuery(START + minute);
    }
    expect(alerts()).toBe(2);
  });

  test('from before the start makes its series at zero, and counts for nothing', () => {
    absorb(notice('old', START - 1));
    const values = valuesOf(ledger.samples());
    expect(alerts()).toBe(0);
    expect(
      values['filer_notifications_total{severity="alert",category="network",sub_category="",filer="",volume=""}'],
    ).toBe(0);
    expect(values['filer_notification_latest_timestamp_seconds{severity="alert"}']).toBe(START - 1);
    // Only what comes after a whole query is late.
    expect(drops).toEqual([]);
  });

  test('that is told a quarter of an hour late is still asked for and counts', () => {
    absorb(notice('new', START + 60 * minute));
    ledger.finishQuery(START + 61 * minute);
    expect(ledger.startOfQuery(START + 62 * minute)).toBe(START + 45 * minute);
    absorb(notice('late', START + 46 * minute));
    expect(alerts()).toBe(2);
  });

  test('with a date in the future hides none that comes until then', () => {
    absorb(notice('future', START + 86_400));
    ledger.finishQuery(START + minute);
    expect(ledger.startOfQuery(START + 2 * minute)).toBeLessThanOrEqual(START + minute);
  });

  test('without an id or a time is left out and counted as dropped', () => {
    absorb({ id: null, generated_at: isoOf(START) }, { id: 'x', generated_at: 'yesterday' }, 'text');
    expect(drops).toEqual(['record id', 'record generated_at', 'record GET /notifications items[2]']);
    expect(alerts()).toBe(0);
  });

  test('of an unknown severity counts as other', () => {
    absorb(notice('a', START, { severity: 'CATASTROPHE' }));
    expect(valuesOf(ledger.samples())['filer_notifications_by_severity_total{severity="other"}']).toBe(1);
  });
});

test('a question after a month reaches back no further than the service takes', () => {
  ledger.finishQuery(START);
  const later = START + 40 * 86_400;
  expect(later - ledger.startOfQuery(later)).toBeLessThan(30 * 86_400);
});

test('another process goes on where this one was', () => {
  absorb(notice('a', START + 1));
  ledger.finishQuery(START + minute);
  clock.step(10 * minute * 1000);
  restart(10 * minute);
  absorb(notice('a', START + 1), notice('b', START + 5 * minute));
  expect(alerts()).toBe(2);
});

describe('a clock', () => {
  const day = 86_400;

  test.each([
    ['a year ahead', 365 * day, undefined],
    ['in 1970', -START, undefined],
    ['in 1970 until the restart', -START, START],
  ])('that was %s and is set right makes nothing old count as new, and hides nothing new', (_, off, restartedAfter) => {
    beginUnder(off);
    round(...(off < 0 ? [notice('old', START - 20 * day)] : []));
    expect(alerts()).toBe(0);
    clock.step(-off * 1000);
    if (restartedAfter !== undefined) restart(restartedAfter);
    expect(ledger.startOfQuery(START)).toBe(START - 15 * minute);
    round(notice('older', START - day), notice('new', START + minute));
    expect(alerts()).toBe(1);
  });

  test.each([40, -40])('that is off by %i days for one round makes nothing count twice', async (days) => {
    const told = [1, 2, 60, 61].map((minutes) => notice(`after ${minutes} minutes`, START + minutes * minute));
    await clock.advance(3 * minute * 1000);
    round(...told.slice(0, 2));
    await clock.advance(60 * minute * 1000);
    round(...told.slice(2, 3));
    clock.step(days * day * 1000);
    round(...told.slice(3));
    clock.step(-days * day * 1000);
    round(...told);
    expect(alerts()).toBe(4);
  });

  test.each([
    ['ten years ahead', 3652 * day],
    ['an hour behind', -60 * minute],
  ])(
    'of the service that was %s, in all that it says, and is set right hides nothing, and nothing counts twice',
    async (_, off) => {
      const all: object[] = [];
      const poll = async (times: number) => {
        for (let time = 0; time < times; time += 1) {
          await clock.advance(5 * minute * 1000);
          const now = clock.now() / 1000;
          all.push(notice(`${all.length}`, now - minute));
          const from = ledger.startOfQuery(now);
          absorb(...all.filter((item) => Date.parse((item as { generated_at: string }).generated_at) / 1000 >= from));
          ledger.finishQuery(now);
        }
      };
      await poll(4);
      clock.step(off * 1000);
      await poll(4);
      clock.step(-off * 1000);
      await poll(4);
      expect([alerts(), drops]).toEqual([12, []]);
      const latest = valuesOf(ledger.samples())['filer_notification_latest_timestamp_seconds{severity="alert"}'];
      expect(latest).toBeLessThanOrEqual(clock.now() / 1000);
      // An outage of the service hides nothing either.
      expect(ledger.startOfQuery(clock.now() / 1000 + 60 * minute)).toBeLessThan(clock.now() / 1000);
    },
  );

  test('that is ahead does not keep what an outage hid from being asked for', async () => {
    beginUnder(365 * day);
    round(notice('a', START + 1));
    clock.step(-365 * day * 1000);
    await clock.advance(2 * minute * 1000);
    round(notice('b', START + minute));
    expect(ledger.startOfQuery(START + 10 * 60 * minute)).toBe(START - 14 * minute);
  });
});

describe('the pages of an answer', () => {
  let api: MockApi;
  let task: Task;

  beforeEach(() => {
    api = mockApi();
    api.answer('POST', '/auth/token', token('one'));
    const collector = portalCollector(api, {
      series: [],
      collectors: [{ name: 'notifications', intervalMs: 300_000 }],
    });
    const found = [...collector.tasks()].find(({ operation }) => operation === 'notifications');
    if (found === undefined) throw new Error('no task for notifications');
    task = found;
  });

  const queries = () => api.sent.slice(1).map(({ path }) => new URLSearchParams(path.split('?')[1]));

  test('are asked for with one and the same query, forward by the cursor until there is none', async () => {
    api.answer(
      'GET',
      '/notifications',
      [200, page([notice('a', START)], 'c1')],
      [200, page([notice('b', START)], 'c2')],
    );
    api.answer('GET', '/notifications', [200, page([notice('c', START)])]);
    const { samples } = await task.poll(going);
    expect(valuesOf(samples)['filer_notifications_by_severity_total{severity="alert"}']).toBe(3);
    expect(queries().map((query) => query.get('iterator_id'))).toEqual([null, 'c1', 'c2']);
    expect(new Set(queries().map((query) => query.get('start_date')))).toEqual(new Set([isoOf(START - 15 * minute)]));
    expect(queries()[0]?.get('sort_direction')).toBe('asc');
  });

  test('read before one that fails are not counted again', async () => {
    api.answer('GET', '/notifications', [200, page([notice('a', START)], 'c1')], [403, { message: 'no' }]);
    await expect(task.poll(going)).rejects.toThrow('403');
    api.answer('GET', '/notifications', [200, page([notice('a', START), notice('b', START)])]);
    const { samples } = await task.poll(going);
    expect(valuesOf(samples)['filer_notifications_by_severity_total{severity="alert"}']).toBe(2);
  });
});
