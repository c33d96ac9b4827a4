import { describe, expect, test } from 'vitest';
import type { JsonObject } from '../../../../src/metrics/family.ts';
import type { GfaLedger } from '../../../../src/services/gfa/ledger.ts';
import {
  dataResponse,
  FORGET_MS,
  filer,
  GONE_MS,
  ledgerOf,
  lock,
  MINUTE_MS,
  propagation,
  type Records,
  released,
  restarted,
  STALE_MS,
  shown,
  take,
  volume,
} from '../../../harness/gfa-responses.ts';
import { valuesOf } from '../../../harness/sample-values.ts';

const two = { filer_guid: 'f2', filer_title: 'two' };
const archive = { volume_guid: 'v2', volume_title: 'archive' };
const everything = {
  filers: [filer(1, 5), filer(1, 6, two), filer(1, 7, archive)],
  volumes: [volume(1), volume(1, archive)],
  locks: [released(1, 5), lock(1, two), lock(1, archive)],
  propagation: [propagation(1, 5), propagation(1, 5, two), propagation(1, 5, archive)],
};

/** The gauges of events, which leave with their filer or volume, and the counts, which stay longer. */
const EVENT_GAUGE =
  /^filer_(?:lock_state|lock_latest|propagation_latest|record_timestamp.*group="(?:locks|propagation)")/;
const COUNT = /^filer_\w+_(?:total|bucket|sum|count)\{/;

function numberOf(ledger: GfaLedger, kind: RegExp, labels: string): number {
  return Object.keys(valuesOf(ledger.samples())).filter((series) => kind.test(series) && series.includes(labels))
    .length;
}

/** Polls once a minute, until a monotonic time. */
async function poll(ledger: GfaLedger, records: Records, fromMs: number, untilMs: number, info = {}): Promise<void> {
  for (let now = fromMs; now <= untilMs; now += MINUTE_MS) await take(ledger, dataResponse(records, info), now);
}

describe('a filer that responses no longer name', () => {
  const others = { filers: [filer(2, 5)], volumes: everything.volumes };

  test('loses its states after STALE_AFTER, its newest events after six intervals, and its counts after FORGET_AFTER', async () => {
    const ledger = await ledgerOf(everything);
    await poll(ledger, others, MINUTE_MS, STALE_MS);
    expect(numberOf(ledger, /checkin/, '"f2"')).toBe(2);
    await poll(ledger, others, STALE_MS + MINUTE_MS, GONE_MS);
    expect([numberOf(ledger, /checkin/, '"f2"'), numberOf(ledger, EVENT_GAUGE, '"f2"')]).toEqual([0, 5]);
    await poll(ledger, others, GONE_MS + MINUTE_MS, GONE_MS + MINUTE_MS);
    expect(numberOf(ledger, EVENT_GAUGE, '"f2"')).toBe(0);
    const counts = numberOf(ledger, COUNT, '"f2"');
    expect(counts).toBeGreaterThan(3);
    await poll(ledger, others, FORGET_MS, FORGET_MS);
    expect(numberOf(ledger, COUNT, '"f2"')).toBe(counts);
    await poll(ledger, others, FORGET_MS + MINUTE_MS, FORGET_MS + MINUTE_MS);
    expect(numberOf(ledger, /./, '"f2"')).toBe(0);
    expect(JSON.stringify(ledger.save())).not.toContain('f2');
    expect(numberOf(ledger, EVENT_GAUGE, '"f1"')).toBeGreaterThan(5);
  });

  test('has left after a restart too, with the first response that lists filers', async () => {
    const ledger = restarted(await ledgerOf(everything), { shiftMs: -GONE_MS - 1 });
    expect(numberOf(ledger, EVENT_GAUGE, '"f2"')).toBeGreaterThan(0);
    await take(ledger, dataResponse(others));
    expect(numberOf(ledger, EVENT_GAUGE, '"f2"')).toBe(0);
  });

  test('and comes back counts on, and no event again', async () => {
    const ledger = await ledgerOf(everything);
    await poll(ledger, others, MINUTE_MS, GONE_MS + MINUTE_MS);
    await take(ledger, dataResponse({ filers: [filer(3, 5, two)], locks: [lock(1, two), lock(3, two)] }), GONE_MS);
    expect(Object.values(shown(ledger, 'filer_lock_events_total'))).toContain(2);
  });
});

test.each<[string, '"f2"' | '"v2"', Records, JsonObject?, number?]>([
  ['a filer that only events name', '"f2"', { filers: [filer(2, 5)], locks: [lock(1, two)] }],
  ['a filer while no response lists filers', '"f2"', { locks: [lock(2)] }],
  ['a filer while responses are empty', '"f2"', {}],
  ['a filer whose record comes every five minutes', '"f2"', { filers: [filer(2, 5)] }, {}, 5],
  ['a volume that the account still lists', '"v2"', { filers: everything.filers }, { volumes: ['v1', 'V2'] }],
  ['a volume while the list of volumes is missing', '"v2"', { filers: everything.filers }, { volumes: null }],
])('%s keeps its newest events', async (_, labels, records, info = {}, every = 20) => {
  const ledger = await ledgerOf(everything);
  const before = numberOf(ledger, EVENT_GAUGE, labels);
  for (let minute = 1; minute < 20; minute += 1) {
    const response = minute % every === 0 ? { filers: everything.filers } : records;
    await take(ledger, dataResponse(response, info), minute * MINUTE_MS);
  }
  expect(before).toBeGreaterThan(3);
  expect(numberOf(ledger, EVENT_GAUGE, labels)).toBe(before);
});

test('a volume that the account has no more leaves like a filer, on every filer', async () => {
  const ledger = await ledgerOf(everything);
  const rest = { filers: [filer(2, 5)] };
  await poll(ledger, rest, MINUTE_MS, GONE_MS + MINUTE_MS, { volumes: ['v1'] });
  expect(numberOf(ledger, EVENT_GAUGE, '"v2"')).toBe(0);
  expect(numberOf(ledger, COUNT, '"v2"')).toBeGreaterThan(3);
  await poll(ledger, rest, FORGET_MS + MINUTE_MS, FORGET_MS + MINUTE_MS, { volumes: ['v1'] });
  expect(numberOf(ledger, /./, '"v2"')).toBe(0);
  expect(numberOf(ledger, COUNT, '"v1"')).toBeGreaterThan(3);
});
