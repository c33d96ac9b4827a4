import { describe, expect, test } from 'vitest';
import type { GfaLedger } from '../../../src/services/gfa/ledger.ts';
import { valuesOf } from '../../support/exposition-lines.ts';
import {
  dataAnswer,
  filer,
  GONE_AFTER_MS,
  ledgerOf,
  lock,
  MIDNIGHT,
  newLedger,
  propagation,
  released,
  take,
  timestamp,
  told,
  volume,
} from '../../support/gfa-answers.ts';

/** The Unix seconds of an event, `at` seconds into the history of these tests. */
const secondsOf = (at: number) => Date.parse(timestamp(at)) / 1000;

describe('more filers on volumes than there is memory for', () => {
  test('are counted as records left out, and change nothing about those before them', () => {
    const ledger = newLedger({ maxPairs: 2 });
    const filers = ['f1', 'f2', 'f3'].map((guid) => filer(1, 40, { filer_guid: guid, filer_title: guid }));
    expect(take(ledger, dataAnswer({ filers })).notes).toEqual(['record filers.filer_guid']);
    const late = dataAnswer({ locks: [lock(2), lock(2, { filer_guid: 'f3' })] });
    expect(take(ledger, late).notes).toContain('record locks.filer_guid');
    const seen = [...ledger.samples()].filter(({ name }) => name === 'filer_volume_last_checkin_timestamp_seconds');
    expect(seen.map(({ labels }) => labels.filer_guid)).toEqual(['f1', 'f2']);
    expect(Object.values(told(ledger, 'filer_lock_events_total'))).toEqual([1]);
  });

  test('leave room again when others are gone', () => {
    const ledger = ledgerOf({ filers: [filer(1, 40)] }, { maxPairs: 1 });
    const other = dataAnswer({ filers: [filer(1, 40, { filer_guid: 'f2' })] });
    expect(take(ledger, other, GONE_AFTER_MS + 1).notes).toEqual(['record filers.filer_guid']);
    expect(take(ledger, other, GONE_AFTER_MS + 2).notes).toEqual([]);
  });

  test('are volumes too', () => {
    const ledger = newLedger({ maxPairs: 1 });
    const { notes } = take(ledger, dataAnswer({ volumes: [volume(1), volume(1, { volume_guid: 'v2' })] }));
    expect(notes).toEqual(['record volumes.volume_guid']);
  });
});

test('[long-texts] a day of long names, ids, words and fields, new in each response, takes no more than half a day of them', () => {
  const ledger = newLedger({ maxPairs: 50, maxEvents: 1_000, forgetAfterMs: 86_400_000 });
  const minutes = 1_440;
  const sizes: number[] = [];
  for (let minute = 0; minute < minutes; minute += 1) {
    const at = 60 * minute;
    const long = (name: string) => `${name} ${minute}`.padEnd(20_000, 'x');
    const ids = { filer_guid: long('f'), filer_title: long('t'), volume_guid: long('v'), volume_title: long('w') };
    const known = { filer_guid: `f${minute % 40}`, volume_guid: 'v' };
    const words = { lock_phase: long('p'), lock_state: long('s'), unknown: long('u') };
    take(
      ledger,
      dataAnswer({
        filers: [filer(at, 40, ids), filer(at, 40, { ...known, filer_title: long('t'), unknown: long('u') })],
        volumes: [volume(at, { ...ids, mode: long('m'), profile: long('r') })],
        locks: [lock(at, { ...known, ...words }), lock(at, { ...ids, ...words })],
        propagation: [
          propagation(at, 7, { ...known, kind: long('k') }),
          propagation(at, 7, { ...ids, kind: long('k') }),
        ],
      }),
      60_000 * minute,
    );
    if ((minute + 1) % (minutes / 2) === 0)
      sizes.push([...ledger.all()].reduce<number>((sum, line) => sum + JSON.stringify(line).length, 0));
  }
  const [half = 0, whole = 0] = sizes;
  // Of 24 KiB that the limits reckon with for each filer on a volume, and 512 bytes for each event.
  expect(whole).toBeLessThan(50 * 24_576 + 1_000 * 512);
  expect(whole).toBeLessThan(1.05 * half);
});

describe('the newest event', () => {
  test('goes by its own time and not by when it came', () => {
    const ledger = ledgerOf({ propagation: [propagation(100, 7)], locks: [released(100, 7)] });
    take(ledger, dataAnswer({ propagation: [propagation(50, 9)], locks: [released(50, 9)] }));
    expect(told(ledger, 'filer_propagation_latest_seconds')).toEqual({ 'kind="data"': 7 });
    expect(told(ledger, 'filer_lock_latest_duration_seconds')).toEqual({ 'lock_phase="p2",lock_state="released"': 7 });
    expect(told(ledger, 'filer_propagation_duration_seconds_sum')).toEqual({ 'kind="data"': 16 });
  });

  test('without a duration leaves the duration told before', () => {
    const ledger = ledgerOf({ locks: [released(1, 7), lock(2, { lock_state: 'RELEASED', lock_duration: null })] });
    take(ledger, dataAnswer({ propagation: [propagation(1, 7), propagation(2, Number.NaN)] }));
    expect(told(ledger, 'filer_lock_latest_duration_seconds')).toEqual({ 'lock_phase="p2",lock_state="released"': 7 });
    expect(told(ledger, 'filer_propagation_latest_seconds')).toEqual({ 'kind="data"': 7 });
  });

  test('of each state has its time, whether or not it tells a duration, and whenever it came', () => {
    const ledger = ledgerOf({ locks: [lock(300), released(120, 20), lock(100)] });
    expect(told(ledger, 'filer_lock_latest_timestamp_seconds')).toEqual({
      'lock_phase="p2",lock_state="acquired"': secondsOf(300),
      'lock_phase="p2",lock_state="released"': secondsOf(120),
    });
    take(ledger, dataAnswer({ locks: [lock(200), lock(400, { lock_state: 'RELEASED' })] }));
    expect(told(ledger, 'filer_lock_latest_timestamp_seconds')).toEqual({
      'lock_phase="p2",lock_state="acquired"': secondsOf(300),
      'lock_phase="p2",lock_state="released"': secondsOf(400),
    });
  });

  test('of a lock taken and given back without a duration in one second is the release, in either order', () => {
    const both = [lock(5), lock(5, { lock_state: 'RELEASED' })];
    for (const locks of [both, both.toReversed()])
      expect(told(ledgerOf({ locks }), 'filer_lock_state')).toEqual({ 'lock_phase="p2",lock_state="released"': 1 });
  });
});

describe('the clock of a filer', () => {
  const state = (ledger: GfaLedger) => Object.keys(told(ledger, 'filer_lock_state'));
  const [acquired, given] = ['lock_phase="p2",lock_state="acquired"', 'lock_phase="p2",lock_state="released"'];

  test('30 s ahead leaves events in the order that it reports', () => {
    const events = {
      locks: [released(86_020, 120), lock(86_025)],
      propagation: [propagation(86_021, 900), propagation(86_022, 1000)],
    };
    const ledger = ledgerOf(events);
    expect(state(ledger)).toEqual([acquired]);
    expect(told(ledger, 'filer_propagation_latest_seconds')).toEqual({ 'kind="data"': 1000 });
  });

  test.each([30, 315_532_800])('%d s ahead for one event hides none of a later answer', (ahead) => {
    const ledger = newLedger();
    const wrong = { locks: [lock(80_000 + ahead)], propagation: [propagation(80_000 + ahead, 11)] };
    take(ledger, dataAnswer(wrong, { request_time: timestamp(80_005) }), 0);
    const right = { locks: [released(80_010, 5)], propagation: [propagation(80_010, 22)] };
    take(ledger, dataAnswer(right, { request_time: timestamp(80_020) }), 15_000);
    expect(state(ledger)).toEqual([given]);
    expect(told(ledger, 'filer_propagation_latest_seconds')).toEqual({ 'kind="data"': 22 });
  });

  test('set back by an hour, with that of the service or alone, shows what happens then at once', () => {
    for (const request_time of [timestamp(82_410), timestamp(86_010)]) {
      const ledger = ledgerOf({
        filers: [filer(85_990, 5)],
        locks: [lock(85_990)],
        propagation: [propagation(85_990, 11)],
      });
      const records = {
        filers: [filer(82_405, 7)],
        locks: [released(82_400, 5)],
        propagation: [propagation(82_400, 22)],
      };
      take(ledger, dataAnswer(records, { request_time }), 10_000, (MIDNIGHT + 86_010) * 1000);
      expect(state(ledger)).toEqual([given]);
      expect(told(ledger, 'filer_propagation_latest_seconds')).toEqual({ 'kind="data"': 22 });
      expect(told(ledger, 'filer_volume_last_checkin_timestamp_seconds')).toEqual({ '': secondsOf(82_405) - 7 });
    }
  });
});

describe('the state of a lock', () => {
  test('is exactly one for each filer, volume and phase', () => {
    const ledger = newLedger();
    const other = { volume_guid: 'v2', volume_title: 'archive' };
    take(ledger, dataAnswer({ locks: [lock(1), released(2, 1), lock(3, { lock_phase: 'P1' }), lock(4, other)] }));
    take(ledger, dataAnswer({ locks: [lock(5, { lock_state: 'ABORTED' })] }));
    expect(told(ledger, 'filer_lock_state')).toEqual({
      'lock_phase="p2",lock_state="aborted"': 1,
      'lock_phase="p1",lock_state="acquired"': 1,
      'filer_guid="f1",filer="one",volume_guid="v2",volume="archive",lock_phase="p2",lock_state="acquired"': 1,
    });
  });
});

test.each([
  ['locks', 'lock_phase', lock(1), 'filer_lock_events_total'],
  ['propagation', 'kind', propagation(1, 1), 'filer_propagation_latest_seconds'],
  ['volumes', 'mode', volume(1), 'filer_volume_info'],
] as const)('in %s the words of %s are bounded', (group, field, record, family) => {
  const ledger = newLedger();
  const words = Array.from({ length: 300 }, (_, index) => `word ${index}`);
  const records = words.map((word, index) => ({ ...record, [field]: word, volume_guid: `v${index}` }));
  expect(take(ledger, dataAnswer({ [group]: records })).notes.filter((text) => text === `label ${field}`)).toHaveLength(
    250,
  );
  const values = [...ledger.samples()].filter(({ name }) => name === family).map(({ labels }) => labels[field]);
  expect(new Set(values).size).toBe(51);
});

describe('a record', () => {
  test.each([
    ['a lock without filer', { locks: [lock(1, { filer_guid: undefined })] }, 'record locks.filer_guid'],
    ['a lock of no day', { locks: [lock(1, { timestamp: '2026-02-30T00:00:00Z' })] }, 'record locks.timestamp'],
    ['a filer without guid', { filers: [filer(1, 5, { filer_guid: null })] }, 'record filers.filer_guid'],
    ['a volume without guid', { volumes: [volume(1, { volume_guid: [] })] }, 'record volumes.volume_guid'],
  ])('that is %s is skipped and counted', (_, records, note) => {
    const ledger = newLedger();
    expect(take(ledger, dataAnswer(records))).toEqual({ fresh: 0, notes: [note] });
    expect(Object.keys(valuesOf(ledger.samples())).filter((series) => series.includes('guid'))).toEqual([]);
  });

  test.each([
    ['prop_seconds', { propagation: [propagation(1, 0, { prop_seconds: 'soon' })] }, 'invalid prop_seconds'],
    ['prop_seconds below zero', { propagation: [propagation(1, -5)] }, 'invalid prop_seconds'],
    ['lock_state', { locks: [lock(1, { lock_state: null })] }, 'absent lock_state'],
    ['last_checkin', { filers: [filer(1, 0, { last_checkin: {} })] }, 'invalid last_checkin'],
  ])('with an unreadable %s is counted as a drop', (_, records, note) => {
    expect(take(newLedger(), dataAnswer(records)).notes).toEqual([note]);
  });

  test('with a duration below zero counts as an event and in no histogram: no sum ever falls', () => {
    const ledger = ledgerOf({ locks: [released(1, 10), released(2, -100)], propagation: [propagation(1, -5)] });
    expect(told(ledger, 'filer_lock_duration_seconds_sum')).toEqual({ 'lock_phase="p2"': 10 });
    expect(told(ledger, 'filer_lock_events_total')).toEqual({ 'lock_phase="p2",lock_state="released"': 2 });
    expect(told(ledger, 'filer_propagation')).toEqual({});
  });

  test('that is ahead of the answer counts as of the answer’s time, as do its ages and the times of the account', () => {
    const ledger = newLedger();
    const filers = [
      filer(102, 5),
      filer(100, -5, { filer_guid: 'f2', filer_title: 'two', oldest_unprotected_data: -7 }),
    ];
    const info = { request_time: timestamp(100), last_info: timestamp(3_600), last_lock_event: timestamp(101) };
    take(ledger, dataAnswer({ filers, locks: [lock(500)] }, info));
    const times = [...ledger.samples()].filter(({ name }) => name.endsWith('timestamp_seconds'));
    expect(Math.max(...times.map(({ value }) => value))).toBe(secondsOf(100));
    expect(told(ledger, 'filer_record_timestamp_seconds')).toMatchObject({
      'group="filers"': secondsOf(100),
      'group="locks"': secondsOf(100),
    });
    expect(told(ledger, 'filer_volume_last_checkin_timestamp_seconds')).toMatchObject({ '': secondsOf(95) });
  });

  test('with a guid in another case is about the same filer and volume', () => {
    const ledger = newLedger();
    const upper = { filer_guid: 'F1', volume_guid: 'V1' };
    take(ledger, dataAnswer({ filers: [filer(1, 5), filer(2, 5, upper)], volumes: [volume(1), volume(2, upper)] }));
    expect(take(ledger, dataAnswer({ locks: [lock(1), lock(1, upper)] })).fresh).toBe(1);
    expect(Object.keys(told(ledger, 'filer_volume_last_checkin_timestamp_seconds'))).toEqual(['']);
    expect(Object.keys(told(ledger, 'filer_volume_info'))).toHaveLength(1);
  });

  test('of a filer alone has no volume labels, and none for oldest data that nobody told', () => {
    const ledger = ledgerOf({ filers: [filer(1, 5, { volume_guid: undefined, volume_title: undefined })] });
    expect(told(ledger, 'filer_last_checkin_timestamp_seconds')).toEqual({
      'filer_guid="f1",filer="one"': secondsOf(1) - 5,
    });
    expect(told(ledger, 'filer_volume_last_checkin_timestamp_seconds')).toEqual({});
    expect(told(ledger, 'filer_oldest_unprotected_data_timestamp_seconds')).toEqual({});
  });

  test('of the newest answer is the state, whatever its time: none holds back a later one', () => {
    for (const off of [-3600, 30, 315_532_800]) {
      const before = { filers: [filer(9_000 + off, 90)], volumes: [volume(9_000 + off, { mode: 'Active' })] };
      const ledger = ledgerOf(before);
      const records = { filers: [filer(9_005, 50)], volumes: [volume(9_005, { mode: 'Disabled' })] };
      expect(take(ledger, dataAnswer(records)).notes).toEqual([]);
      expect(told(ledger, 'filer_volume_last_checkin_timestamp_seconds')).toEqual({ '': secondsOf(9_005) - 50 });
      expect(Object.keys(valuesOf(ledger.samples())).join()).toContain('mode="disabled"');
    }
  });

  test('of one filer or volume twice in an answer is counted: the one of the later time is used, else the latter', () => {
    const ledger = newLedger();
    const filers = [filer(9, 90), filer(9, 5), filer(8, 70)];
    const volumes = [volume(1), volume(1, { time_to_protect: 22 })];
    const { notes } = take(ledger, dataAnswer({ filers, volumes }));
    expect(notes).toEqual([
      'duplicate volumes.volume_guid',
      'duplicate filers.filer_guid',
      'duplicate filers.filer_guid',
    ]);
    expect(told(ledger, 'filer_volume_last_checkin_timestamp_seconds')).toEqual({ '': secondsOf(9) - 5 });
    expect(told(ledger, 'filer_volume_time_to_protect_seconds')).toEqual({ 'volume_guid="v1",volume="projects"': 22 });
  });
});

describe('info', () => {
  test('that misses a field or has it wrong is counted, and gives the rest', () => {
    const ledger = newLedger();
    const info = { last_info: undefined, last_lock_event: null, request_time: 'now', volumes: 2 };
    expect(take(ledger, dataAnswer({}, info)).notes).toEqual([
      'invalid volumes',
      'absent last_info',
      'absent last_lock_event',
      'invalid request_time',
    ]);
    expect(valuesOf(ledger.samples())).toEqual({
      'filer_account_info{account="acc"}': 1,
      filer_gfa_last_propagation_timestamp_seconds: MIDNIGHT + 86_000,
    });
  });

  test('of an epoch date, which an account without events may tell, is no moment', () => {
    const ledger = newLedger();
    take(ledger, dataAnswer({}, { last_lock_event: '1970-01-01T00:00:00Z' }));
    expect(told(ledger, 'filer_gfa_last_lock_event_timestamp_seconds')).toEqual({});
  });
});

describe('a title', () => {
  test('that changes takes every series with it, and no series stays under the old one', () => {
    const ledger = ledgerOf({ filers: [filer(1, 5)], locks: [released(1, 5)], propagation: [propagation(1, 5)] });
    take(ledger, dataAnswer({ filers: [filer(2, 5, { filer_title: 'two', volume_title: 'plans' })] }));
    const own = Object.keys(valuesOf(ledger.samples())).filter((series) => series.includes('f1'));
    expect(own.every((series) => series.includes('filer="two"') && series.includes('volume="plans"'))).toBe(true);
    expect(own.length).toBeGreaterThan(10);
  });

  test('in an older event does not come back', () => {
    const ledger = ledgerOf({ filers: [filer(2, 5)] });
    take(ledger, dataAnswer({ locks: [lock(1, { filer_title: 'old' })] }));
    expect(Object.keys(valuesOf(ledger.samples())).join()).not.toContain('old');
  });

  test('that is empty counts as none: the last one stays, and without one it is the guid', () => {
    const ledger = newLedger();
    const untitled = { filer_title: '', volume_title: '' };
    take(
      ledger,
      dataAnswer({ filers: [filer(1, 5), filer(1, 6, { ...untitled, filer_guid: 'f2', volume_guid: 'v2' })] }),
    );
    take(ledger, dataAnswer({ filers: [filer(2, 5, untitled)] }));
    expect(told(ledger, 'filer_volume_last_checkin_timestamp_seconds')).toEqual({
      '': secondsOf(2) - 5,
      'filer_guid="f2",filer="f2",volume_guid="v2",volume="v2"': secondsOf(1) - 6,
    });
  });

  test('that no record has told is the guid until one does, however old', () => {
    const ledger = ledgerOf({ filers: [filer(2, 5, { filer_title: null, volume_title: undefined })] });
    expect(told(ledger, 'filer_volume_last_checkin_timestamp_seconds')).toEqual({
      'filer_guid="f1",filer="f1",volume_guid="v1",volume="v1"': secondsOf(2) - 5,
    });
    take(ledger, dataAnswer({ locks: [lock(1)] }));
    expect(told(ledger, 'filer_volume_last_checkin_timestamp_seconds')).toEqual({ '': secondsOf(2) - 5 });
  });
});
