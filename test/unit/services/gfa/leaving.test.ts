import { expect, test } from 'vitest';
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

const others = { filers: [filer(2, 5)], volumes: everything.volumes };

test.each<[string, string, Records, JsonObject]>([
  ['a filer that responses no longer name', '"f2"', others, {}],
  ['a volume that the account no longer has', '"v2"', { filers: [filer(2, 5)] }, { volumes: ['v1'] }],
])(
  '%s loses its states after STALE_AFTER, its newest events after six intervals, and its counts after FORGET_AFTER',
  async (...row) => {
    const [, labels, records, info] = row;
    const ledger = await ledgerOf(everything);
    const numbers = () => [/checkin|volume_info/, EVENT_GAUGE, COUNT].map((kind) => numberOf(ledger, kind, labels));
    const [states = 0, events = 0, counts = 0] = numbers();
    expect(Math.min(states, events, counts)).toBeGreaterThan(1);
    await poll(ledger, records, MINUTE_MS, STALE_MS, info);
    expect(numbers()).toEqual([states, events, counts]);
    await poll(ledger, records, STALE_MS + MINUTE_MS, GONE_MS, info);
    expect(numbers()).toEqual([0, events, counts]);
    await poll(ledger, records, GONE_MS + MINUTE_MS, GONE_MS + MINUTE_MS, info);
    expect(numbers()).toEqual([0, 0, counts]);
    await poll(ledger, records, FORGET_MS, FORGET_MS, info);
    expect(numbers()).toEqual([0, 0, counts]);
    await poll(ledger, records, FORGET_MS + MINUTE_MS, FORGET_MS + MINUTE_MS, info);
    expect(JSON.stringify([...ledger.samples(), ledger.save()])).not.toContain(labels);
    expect(numberOf(ledger, EVENT_GAUGE, '"f1"')).toBeGreaterThan(5);
  },
);

test('a filer has left after a restart too, with the first response that lists filers', async () => {
  const ledger = restarted(await ledgerOf(everything), { shiftMs: -GONE_MS - 1 });
  expect(numberOf(ledger, EVENT_GAUGE, '"f2"')).toBeGreaterThan(0);
  await take(ledger, dataResponse(others));
  expect(numberOf(ledger, EVENT_GAUGE, '"f2"')).toBe(0);
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
