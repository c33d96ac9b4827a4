import { describe, expect, test } from 'vitest';
import {
  dataAnswer,
  ledgerOf,
  lock,
  newLedger,
  propagation,
  released,
  take,
  timestamp,
  told,
} from '../../support/gfa-answers.ts';

test.each([
  ['phase', released(1, 5), released(1, 5, { lock_phase: 'P1' })],
  ['lock duration', released(1, 5), released(1, 7)],
  ['fraction of a second', released(1, 5), released(1, 5, { timestamp: timestamp(1.5) })],
  ['kind', propagation(1, 5), propagation(1, 5, { kind: 'metadata' })],
])('two events that differ in their %s are two, and each counts once', (_, one, other) => {
  const ledger = newLedger();
  const [group, family] =
    'kind' in one
      ? (['propagation', 'filer_propagation_duration_seconds_count'] as const)
      : (['locks', 'filer_lock_events_total'] as const);
  const answer = dataAnswer({ [group]: [one, other, other, one] });
  expect([take(ledger, answer).fresh, take(ledger, answer).fresh]).toEqual([2, 0]);
  const counts = Object.values(told(ledger, family));
  expect(counts.reduce((sum, count) => sum + count, 0)).toBe(2);
});

test('an event told with another title, field or spelling of its time is the same event', () => {
  const ledger = ledgerOf({ locks: [released(0, 5)] });
  const again = { filer_title: 'new', version: 2, timestamp: '2026-03-02T01:00:00.000+01:00', lock_duration: '5' };
  expect(take(ledger, dataAnswer({ locks: [released(0, 5, again)] })).fresh).toBe(0);
});

describe('memory', () => {
  test('that is full counts no event that it cannot remember, and tells each', () => {
    const ledger = newLedger({ maxEvents: 100 });
    const answer = dataAnswer({ locks: Array.from({ length: 500 }, (_, index) => lock(index)) });
    expect(take(ledger, answer, 0).fresh).toBe(100);
    const { fresh, notes } = take(ledger, answer, 1);
    expect([fresh, notes.length, notes[0]]).toEqual([0, 400, 'full locks.timestamp']);
    expect(told(ledger, 'filer_lock_events_total')).toEqual({ 'lock_phase="p2",lock_state="acquired"': 100 });
  });
});
