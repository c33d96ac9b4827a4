import { expect, test } from 'vitest';
import { SchemaError } from '../../../../src/runtime/errors.ts';
import { parseDataResponse } from '../../../../src/services/gfa/data-response.ts';
import fc from '../../../harness/fast-check.ts';
import {
  dataResponse,
  filer,
  lock,
  MIDNIGHT,
  newLedger,
  propagation,
  restarted,
  shown,
  take,
  timestamp,
  volume,
} from '../../../harness/gfa-responses.ts';
import { valuesOf } from '../../../harness/sample-values.ts';

function read(body: unknown) {
  const drops: string[] = [];
  const { groups } = parseDataResponse(body, (reason, place) => drops.push(`${reason} ${place}`));
  return { groups, drops };
}

test.each([
  ['nothing', undefined],
  ['text', 'maintenance'],
  ['without info', { metrics: [] }],
  ['without metrics', { info: {} }],
  ['with text as metrics', { info: {}, metrics: 'none' }],
  ['with null in metrics', { info: {}, metrics: [null] }],
  ['with an object as a group', { info: {}, metrics: [{ locks: {} }] }],
])('an envelope (%s) is not a response of /data', (_, body) => {
  expect(() => read(body)).toThrow(SchemaError);
});

test('an envelope may have metrics as one object, and lacks groups without new records', () => {
  const { groups } = read({ info: {}, metrics: { filers: [{}], locks: null } });
  expect(groups).toEqual({ filers: [{}], volumes: [], locks: [], propagation: [] });
});

test('an envelope that is wrong is reported by its place and by what was there', () => {
  expect(() => read({ info: {}, metrics: [{}, 3] })).toThrow(
    'reading GET /data: metrics[1]: expected an object, got a number',
  );
  const places = ['record metrics[0].locks[0]', 'record metrics[0].locks[2]', 'record metrics[0].locks[3]'];
  expect(read(dataResponse({ locks: [null, lock(0), 'x', []] })).drops).toEqual(places);
});

test.each([
  ['a lock without a filer', { locks: [lock(1, { filer_guid: undefined })] }, 'record locks.filer_guid'],
  ['a lock of 30 February', { locks: [lock(1, { timestamp: '2026-02-30T00:00:00Z' })] }, 'record locks.timestamp'],
  ['a filer without a guid', { filers: [filer(1, 5, { filer_guid: null })] }, 'record filers.filer_guid'],
  ['a volume with a list as its guid', { volumes: [volume(1, { volume_guid: [] })] }, 'record volumes.volume_guid'],
  ['text as a duration', { propagation: [propagation(1, 0, { prop_seconds: 'soon' })] }, 'invalid prop_seconds'],
  ['a negative duration', { locks: [lock(1, { lock_duration: -5 })] }, 'invalid lock_duration'],
  ['an object as an age', { filers: [filer(1, 0, { volume_guid: null, last_checkin: {} })] }, 'invalid last_checkin'],
])('%s is counted as one dropped value', async (_, records, drop) => {
  expect((await take(newLedger(), dataResponse(records))).drops).toEqual([drop]);
});

test('a value that is null or missing is not counted as dropped', async () => {
  const records = {
    filers: [filer(1, 0, { last_checkin: null, oldest_unprotected_data: undefined })],
    volumes: [volume(1, { mode: null, profile: undefined, time_to_protect: null })],
    locks: [lock(1, { lock_state: null, lock_duration: null })],
    propagation: [propagation(1, 0, { prop_seconds: null, kind: undefined })],
  };
  const info = { last_info: undefined, last_lock_event: null, last_propagation: null };
  expect((await take(newLedger(), dataResponse(records, info))).drops).toEqual([]);
});

test('of info, what can be read is shown, and the rest is counted', async () => {
  const ledger = newLedger();
  const info = { last_info: '1970-01-01T00:00:00Z', last_propagation: timestamp(9), request_time: 'now', volumes: 2 };
  const { drops } = await take(ledger, dataResponse({}, info), 0, (MIDNIGHT + 100) * 1000);
  expect(drops).toEqual(['invalid volumes', 'invalid last_info', 'invalid request_time']);
  expect(valuesOf(ledger.samples())).toEqual({
    'filer_account_info{account="acc"}': 1,
    filer_gfa_last_propagation_timestamp_seconds: MIDNIGHT + 9,
  });
});

test('beyond the maximum of filers on volumes, records are counted as dropped until others have left', async () => {
  const ledger = newLedger({ maxPairs: 2, forgetAfterMs: 60_000 });
  const named = (...guids: readonly string[]) =>
    dataResponse({ filers: guids.map((guid) => filer(1, 40, { filer_guid: guid })) });
  expect((await take(ledger, named('f1', 'f2', 'f3'))).drops).toEqual(['record filers.filer_guid']);
  const locks = [lock(2), lock(2, { filer_guid: 'f3' })];
  expect((await take(ledger, dataResponse({ locks }))).drops).toEqual(['record locks.filer_guid']);
  expect((await take(ledger, named('f1', 'f3'), 60_001)).drops).toEqual(['record filers.filer_guid']);
  expect((await take(ledger, named('f1', 'f3'), 60_002)).drops).toEqual([]);
});

test.each([
  ['lock_state', lock(1), 'filer_lock_events_total', 24],
  ['lock_phase', lock(1), 'filer_lock_events_total', 13],
  ['kind', propagation(1, 1), 'filer_propagation_duration_seconds_count', 25],
])('the values of %s become other beyond a number for each filer on a volume, and each is counted', async (...row) => {
  const [field, record, family, most] = row;
  const ledger = newLedger();
  const records = Array.from({ length: 300 }, (_, index) => ({ ...record, [field]: `value ${index}` }));
  const { drops } = await take(ledger, dataResponse({ [field === 'kind' ? 'propagation' : 'locks']: records }));
  const series = Object.entries(shown(ledger, family));
  const ofOther = series.filter(([labels]) => labels.includes(`${field}="other"`));
  expect([series.length, ofOther.map(([, count]) => count)]).toEqual([most + 1, [300 - most]]);
  expect(drops.filter((drop) => drop === `label ${field}`)).toHaveLength(300 - most);
});

test('of a value with a million characters, and of a field that nobody reads, little or nothing is kept', async () => {
  const records = { volumes: [volume(1, { mode: 'm'.repeat(1_000_000), unknown: 'not kept' })] };
  const ledger = newLedger();
  await take(ledger, dataResponse(records, { account: 'a'.repeat(1_000_000), unknown: ['not kept'] }));
  expect(JSON.stringify(ledger.save()).length).toBeLessThan(4_000);
});

test('property: no value in a record makes the ledger fail, show a number that is not finite, or be lost by a restart', async () => {
  const value = fc.oneof(
    fc.jsonValue({ maxDepth: 2 }),
    fc.constantFrom(-1, 1e308, '1e999', timestamp(5), '9999-12-31T23:59:59Z', '0001-01-01T00:00:00Z', 'f1', 'v1'),
  );
  const FIELDS = ['timestamp', 'filer_guid', 'filer_title', 'volume_guid', 'volume_title', 'mode', 'profile'];
  const NUMBERS = ['time_to_protect', 'last_checkin', 'oldest_unprotected_data', 'prop_seconds', 'lock_duration'];
  const WORDS = ['kind', 'lock_phase', 'lock_state', 'data_protected', '__proto__'];
  const fields = fc.constantFrom(...FIELDS, ...NUMBERS, ...WORDS);
  const record = fc
    .tuple(fc.constantFrom(lock(1), propagation(1, 5), filer(1, 5), volume(1)), fc.dictionary(fields, value))
    .map(([usual, more]) => ({ ...usual, ...more }));
  const records = fc.record({
    filers: fc.array(record, { maxLength: 4 }),
    volumes: fc.array(record, { maxLength: 4 }),
    locks: fc.array(record, { maxLength: 4 }),
    propagation: fc.array(record, { maxLength: 4 }),
  });
  const info = fc.dictionary(fc.constantFrom('account', 'volumes', 'request_time', 'last_info'), value);
  const check = async (responses: readonly (readonly [object, Record<string, unknown>])[]) => {
    const ledger = newLedger();
    for (const [groups, more] of responses) await take(ledger, dataResponse(groups, more), 0, (MIDNIGHT + 9) * 1000);
    const values = valuesOf(ledger.samples());
    for (const number of Object.values(values)) expect(Number.isFinite(number)).toBe(true);
    expect(Object.keys(valuesOf(restarted(ledger).samples()))).toEqual(Object.keys(values));
  };
  await fc.assert(fc.asyncProperty(fc.array(fc.tuple(records, info), { minLength: 1, maxLength: 3 }), check), {
    numRuns: 150,
  });
});
