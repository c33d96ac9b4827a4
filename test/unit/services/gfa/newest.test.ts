import { expect, test } from 'vitest';
import type { GfaLedger } from '../../../../src/services/gfa/ledger.ts';
import {
  dataResponse,
  filer,
  ledgerOf,
  lock,
  MIDNIGHT,
  newLedger,
  propagation,
  released,
  restarted,
  shown,
  take,
  timestamp,
  volume,
} from '../../../harness/gfa-responses.ts';
import { valuesOf } from '../../../harness/sample-values.ts';

const [ACQUIRED, RELEASED] = ['lock_phase="p2",lock_state="acquired"', 'lock_phase="p2",lock_state="released"'];

const stateOf = (ledger: GfaLedger) => Object.keys(shown(ledger, 'filer_lock_state'));

test('the newest event goes by its own time, not by when it arrived, also after a restart', async () => {
  const ledger = await ledgerOf({ propagation: [propagation(100, 7)], locks: [released(100, 7), lock(90)] });
  for (const next of [restarted(ledger), ledger]) {
    await take(next, dataResponse({ propagation: [propagation(50, 9)], locks: [released(50, 9), lock(60)] }));
    expect(stateOf(next)).toEqual([RELEASED]);
    expect(shown(next, 'filer_propagation_latest_seconds')).toEqual({ 'kind="data"': 7 });
    expect(shown(next, 'filer_lock_latest')).toEqual({
      [`filer_lock_latest_duration_seconds{${RELEASED}}`]: 7,
      [`filer_lock_latest_timestamp_seconds{${RELEASED}}`]: MIDNIGHT + 100,
      [`filer_lock_latest_timestamp_seconds{${ACQUIRED}}`]: MIDNIGHT + 90,
    });
    expect(new Set(Object.values(shown(next, 'filer_record_timestamp_seconds')))).toEqual(new Set([MIDNIGHT + 100]));
  }
  expect(shown(ledger, 'filer_propagation_duration_seconds_sum')).toEqual({ 'kind="data"': 16 });
});

test('the newest event without a duration leaves the latest duration as it was', async () => {
  const ledger = await ledgerOf({
    locks: [released(1, 7), lock(2, { lock_state: 'RELEASED', lock_duration: null })],
  });
  await take(ledger, dataResponse({ propagation: [propagation(1, 7), propagation(2, Number.NaN)] }));
  expect(shown(ledger, 'filer_lock_latest_duration_seconds')).toEqual({ [RELEASED]: 7 });
  expect(shown(ledger, 'filer_propagation_latest_seconds')).toEqual({ 'kind="data"': 7 });
});

test('the newest event of a lock acquired and released within one second is the release, in either order', async () => {
  const both = [lock(5), lock(5, { lock_state: 'RELEASED' })];
  for (const locks of [both, both.toReversed()]) expect(stateOf(await ledgerOf({ locks }))).toEqual([RELEASED]);
});

test('a clock that is 30 s ahead on a filer leaves the events of a response in the order of their times', async () => {
  const ledger = await ledgerOf({
    locks: [lock(86_025), released(86_020, 120)],
    propagation: [propagation(86_022, 1_000), propagation(86_021, 900)],
  });
  expect(stateOf(ledger)).toEqual([ACQUIRED]);
  expect(shown(ledger, 'filer_propagation_latest_seconds')).toEqual({ 'kind="data"': 1_000 });
});

test.each([30, 315_532_800])(
  'a wrong clock %d s ahead for one event hides no event of a later response',
  async (ahead) => {
    const ledger = newLedger();
    const wrong = { locks: [lock(80_000 + ahead)], propagation: [propagation(80_000 + ahead, 11)] };
    await take(ledger, dataResponse(wrong, { request_time: timestamp(80_005) }), 0);
    const right = { locks: [released(80_010, 5)], propagation: [propagation(80_010, 22)] };
    await take(ledger, dataResponse(right, { request_time: timestamp(80_020) }), 15_000);
    expect(stateOf(ledger)).toEqual([RELEASED]);
    expect(shown(ledger, 'filer_propagation_latest_seconds')).toEqual({ 'kind="data"': 22 });
  },
);

test('a wrong clock of the service is believed once it was measured; then what is later than it gives way', async () => {
  const ledger = newLedger();
  for (let poll = 0; poll < 10; poll += 1) {
    const at = (poll < 5 ? 86_000 : 82_400) + 60 * poll;
    const locks = [poll < 5 ? lock(85_990) : released(at - 5, 5)];
    await take(ledger, dataResponse({ locks }, { request_time: timestamp(at) }), 60_000 * poll);
    expect(stateOf(ledger)).toEqual([poll < 7 ? ACQUIRED : RELEASED]);
  }
});

test('a wrong clock makes no time later than the response, and no age negative', async () => {
  const ledger = newLedger();
  const filers = [filer(102, 5), filer(100, -5, { filer_guid: 'f2', filer_title: 'two', oldest_unprotected_data: -7 })];
  const info = { request_time: timestamp(100), last_info: timestamp(3_600), last_lock_event: timestamp(101) };
  await take(ledger, dataResponse({ filers, locks: [lock(500)] }, info));
  const times = [...ledger.samples()].filter(({ name }) => name.endsWith('timestamp_seconds'));
  expect(Math.max(...times.map(({ value }) => value))).toBe(MIDNIGHT + 100);
  expect(shown(ledger, 'filer_volume_last_checkin_timestamp_seconds')).toMatchObject({ '': MIDNIGHT + 95 });
  // An age that is missing is not zero.
  expect(Object.keys(shown(ledger, 'filer_oldest_unprotected_data_timestamp_seconds'))).toHaveLength(1);
});

test('a state that is twice in a response is counted as a duplicate: the later one is shown, else the second', async () => {
  const ledger = newLedger();
  const filers = [filer(9, 90), filer(9, 5), filer(8, 70)];
  const volumes = [volume(1), volume(1, { time_to_protect: 22 })];
  const { drops } = await take(ledger, dataResponse({ filers, volumes }));
  expect(drops).toEqual([...Array(2).fill('duplicate filers.filer_guid'), 'duplicate volumes.volume_guid']);
  expect(valuesOf(ledger.samples())).toMatchObject({
    'filer_last_checkin_timestamp_seconds{filer_guid="f1",filer="one"}': MIDNIGHT + 4,
    'filer_volume_time_to_protect_seconds{volume_guid="v1",volume="projects"}': 22,
  });
});
