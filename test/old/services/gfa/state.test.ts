import { describe, expect, test } from 'vitest';
import type { GfaLedger } from '../../../src/services/gfa/ledger.ts';
import type { Piece } from '../../../src/services/gfa/saved-ledger.ts';
import { valuesOf } from '../../support/exposition-lines.ts';
import {
  dataAnswer,
  filer,
  GONE_AFTER_MS,
  ledgerOf,
  lock,
  newLedger,
  propagation,
  reborn,
  released,
  take,
  told,
  volume,
} from '../../support/gfa-answers.ts';
import { readAgain } from '../../support/kept.ts';

const everything = {
  filers: [filer(1, 5), { ...filer(1, 6), timestamp: undefined, filer_guid: 'f2', volume_guid: undefined }],
  volumes: [volume(1), volume(1, { volume_guid: 'v2', volume_title: 'archive', mode: 'Odd' })],
  locks: [lock(1), released(2, 30), lock(3, { lock_phase: 'P1', lock_state: '' })],
  propagation: [propagation(1, 5, { data_protected: 3 }), propagation(2, 500.5, { kind: '' })],
};

describe('a ledger restored', () => {
  test('says what the one before it said, and counts no event of it again', () => {
    const before = ledgerOf(everything);
    const after = reborn(before, {});
    expect(valuesOf(after.samples())).toEqual(valuesOf(before.samples()));
    expect(after.memory).toEqual(before.memory);
    expect([...after.all()]).toEqual([...before.all()]);
    expect(take(after, dataAnswer(everything)).fresh).toBe(0);
    expect(valuesOf(after.samples())).toEqual(valuesOf(before.samples()));
  });

  test('keeps filers and volumes that have no title', () => {
    const before = ledgerOf({ locks: [lock(1, { filer_title: undefined, volume_title: null })] });
    const after = reborn(before, {});
    expect(valuesOf(after.samples())).toEqual(valuesOf(before.samples()));
    expect(told(after, 'filer_lock_events_total')).toEqual(told(before, 'filer_lock_events_total'));
  });

  test('that had absorbed nothing says nothing', () => {
    const after = reborn(newLedger(), {});
    expect([...after.samples()]).toEqual([]);
    expect(after.respondedAt).toBeUndefined();
  });

  test('is as old as it would be without the restart', () => {
    const before = newLedger();
    take(before, dataAnswer(everything), 1_000_000);
    const after = reborn(before, { shiftMs: -1_029_995 });
    expect(after.respondedAt).toBe(5 - 30_000);
    expect(after.account).toBe('acc');
  });

  test('lets go of states that nobody has confirmed for too long, and of counters with the next full answer', () => {
    const before = ledgerOf(everything);
    const after = reborn(before, { shiftMs: -GONE_AFTER_MS - 1 });
    expect(told(after, 'filer_volume_last_checkin_timestamp_seconds')).toEqual({});
    expect(told(after, 'filer_volume_info')).toEqual({});
    for (const family of ['filer_lock_', 'filer_propagation_'])
      expect(told(after, family)).toEqual(told(before, family));
    take(after, dataAnswer({ filers: [filer(500, 5, { filer_guid: 'f9' })] }), 0);
    expect(told(after, 'filer_lock_events_total')).toEqual({});
  });

  test('goes on capping words where the other one had got to', () => {
    const before = newLedger();
    const words = (from: number) =>
      Array.from({ length: 50 }, (_, index) => lock(index, { lock_state: `S${from + index}` }));
    const { notes } = take(before, dataAnswer({ locks: words(0) }));
    expect(notes.filter((note) => note === 'label lock_state')).toHaveLength(26);
    const after = reborn(before, {});
    take(after, dataAnswer({ locks: words(50) }));
    expect(told(after, 'filer_lock_events_total')).toMatchObject({ 'lock_phase="p2",lock_state="other"': 76 });
  });

  test('from the changes of each answer is the one that was made of them', () => {
    const [before, after] = [newLedger(), newLedger()];
    const answers = [
      everything,
      { locks: [lock(5), released(6, 8)] },
      {},
      everything,
      { propagation: [propagation(9, 1)] },
    ];
    for (const [index, records] of answers.entries()) {
      take(before, dataAnswer(records), index * 60_000);
      for (const piece of readAgain(before.changes())) after.put(piece as Piece, 0);
      expect(readAgain(before.changes())).toEqual([{ answeredAt: index * 60_000 }]);
    }
    after.finishRestoring(answers.length * 60_000);
    // Of an event that comes again, the changes have the first time.
    const sorted = (ledger: GfaLedger) =>
      (readAgain(ledger.all()) as readonly Piece[])
        .map(({ events, ...piece }) => JSON.stringify({ ...piece, events: events?.flatMap(([, ids]) => ids) }))
        .sort();
    expect(sorted(after)).toEqual(sorted(before));
  });

  test('has what the state of a filer was that is gone since, no more', () => {
    const before = newLedger();
    const after = newLedger();
    const put = () => {
      for (const piece of readAgain(before.changes())) after.put(piece as Piece, 0);
    };
    take(before, dataAnswer(everything));
    put();
    take(before, dataAnswer({ filers: [filer(500, 5, { filer_guid: 'f9' })] }, { volumes: [] }), GONE_AFTER_MS + 1);
    put();
    after.finishRestoring(GONE_AFTER_MS + 1);
    expect(valuesOf(after.samples())).toEqual(valuesOf(before.samples()));
    expect(JSON.stringify([...after.all()])).not.toContain('f2');
  });

  test('keeps nothing of a record but what some table reads', () => {
    const before = ledgerOf({ locks: [lock(1, { secret_note: 'not for the disk' })] });
    expect(JSON.stringify([...before.all()])).not.toContain('not for the disk');
  });
});
