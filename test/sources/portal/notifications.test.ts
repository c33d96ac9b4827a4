import { beforeEach, describe, expect, test } from 'vitest';
import type { Task } from '../../../src/metrics/task.ts';
import { atOnce } from '../../../src/runtime/slices.ts';
import { NotificationLedger } from '../../../src/sources/portal/account/notification-ledger.ts';
import { valuesOf } from '../../support/exposition-lines.ts';
import { going, type MockApi, mockApi, token } from '../../support/mock-api.ts';
import { portalCollector } from '../../support/portal-parts.ts';

const START = Date.UTC(2026, 2, 2, 10) / 1000;
const minute = 60;

const isoOf = (seconds: number) => new Date(seconds * 1000).toISOString();

function notice(id: string, at: number, more: object = {}) {
  return { id, severity: 'ALERT', category: 'Network', generated_at: isoOf(at), ...more };
}

function page(items: readonly unknown[], iterator_id: string | null = null) {
  return { items, metadata: { iterator_id, total_items: 0 } };
}

let ledger: NotificationLedger;
let drops: string[];

beforeEach(() => {
  ledger = new NotificationLedger(START);
  drops = [];
});

function absorb(...items: readonly unknown[]): void {
  atOnce(ledger.absorb(page(items), (reason, place) => drops.push(`${reason} ${place}`)));
}

function alerts(): number | undefined {
  return valuesOf(ledger.samples())['filer_notifications_by_severity_total{severity="ALERT"}'];
}

describe('a notification', () => {
  test('counts once, however often it is delivered', () => {
    for (let round = 0; round < 3; round += 1) {
      absorb(notice('a', START + 1), notice('b', START + 2));
      ledger.ended(START + minute);
    }
    expect(alerts()).toBe(2);
  });

  test('from before the start makes its series at zero, and counts for nothing', () => {
    absorb(notice('old', START - 1));
    const values = valuesOf(ledger.samples());
    expect(alerts()).toBe(0);
    expect(
      values['filer_notifications_total{severity="ALERT",category="Network",sub_category="",filer="",volume=""}'],
    ).toBe(0);
    expect(values['filer_notification_latest_timestamp_seconds{severity="ALERT"}']).toBe(START - 1);
  });

  test('that is told a quarter of an hour late is still asked for and counts', () => {
    absorb(notice('new', START + 60 * minute));
    ledger.ended(START + 61 * minute);
    expect(ledger.from(START + 62 * minute)).toBe(START + 45 * minute);
    absorb(notice('late', START + 46 * minute));
    expect(alerts()).toBe(2);
  });

  test('with a date in the future hides none that comes until then', () => {
    absorb(notice('future', START + 86_400));
    ledger.ended(START + minute);
    expect(ledger.from(START + 2 * minute)).toBeLessThanOrEqual(START + minute);
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

test('what a flood of names brings stays bounded, and every notification is in the sum', () => {
  const flood = Array.from({ length: 20_000 }, (_, index) =>
    notice(`n${index}`, START + index, {
      appliance_name: `a${index}`,
      volume_name: `v${index % 700}`,
      category: `c${index % 90}`,
    }),
  );
  absorb(...flood);
  const total = ledger.samples().filter(({ name }) => name === 'filer_notifications_total');
  expect(total.length).toBeLessThan(5_300);
  expect(total.reduce((sum, { value }) => sum + value, 0)).toBe(20_000);
});

test('a question after a month reaches back no further than the service takes', () => {
  ledger.ended(START);
  const later = START + 40 * 86_400;
  expect(later - ledger.from(later)).toBeLessThan(30 * 86_400);
});

test('another process goes on where this one was', () => {
  absorb(notice('a', START + 1));
  ledger.ended(START + minute);
  const next = new NotificationLedger(START + 10 * minute);
  next.restore(JSON.parse(JSON.stringify(ledger.state())));
  ledger = next;
  absorb(notice('a', START + 1), notice('b', START + 5 * minute));
  expect(alerts()).toBe(2);
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
    const found = collector.tasks().find(({ operation }) => operation === 'notifications');
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
    expect(valuesOf(samples)['filer_notifications_by_severity_total{severity="ALERT"}']).toBe(3);
    expect(queries().map((query) => query.get('iterator_id'))).toEqual([null, 'c1', 'c2']);
    expect(new Set(queries().map((query) => query.get('start_date')))).toEqual(new Set([isoOf(START - 15 * minute)]));
    expect(queries()[0]?.get('sort_direction')).toBe('asc');
  });

  test('that never end fail the poll instead of being read for ever', async () => {
    api.answer('GET', '/notifications', [200, page([], 'c1')], [200, page([], 'c1')]);
    await expect(task.poll(going)).rejects.toThrow('iterator_id came twice');
  });

  test('read before one that fails are not counted again', async () => {
    api.answer('GET', '/notifications', [200, page([notice('a', START)], 'c1')], [403, { message: 'no' }]);
    await expect(task.poll(going)).rejects.toThrow('403');
    api.answer('GET', '/notifications', [200, page([notice('a', START), notice('b', START)])]);
    const { samples } = await task.poll(going);
    expect(valuesOf(samples)['filer_notifications_by_severity_total{severity="ALERT"}']).toBe(2);
  });
});
