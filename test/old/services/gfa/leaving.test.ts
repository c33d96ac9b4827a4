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
  propagation,
  released,
  take,
  told,
  volume,
} from '../../support/gfa-answers.ts';

const MINUTE_MS = 60_000;
const two = { filer_guid: 'f2', filer_title: 'two' };
const archive = { volume_guid: 'v2', volume_title: 'archive' };
const everything = {
  filers: [filer(1, 5), filer(1, 6, two), filer(1, 7, archive)],
  volumes: [volume(1), volume(1, archive)],
  locks: [released(1, 5), lock(1, two), lock(1, archive)],
  propagation: [propagation(1, 5), propagation(1, 5, two), propagation(1, 5, archive)],
};

/** How many series have such a text in their labels. */
function series(ledger: GfaLedger, part: string): number {
  return Object.keys(valuesOf(ledger.samples())).filter((name) => name.includes(part)).length;
}

/** Polls once a minute for as long as it takes until what is named no more is gone. */
function pollUntilGone(ledger: GfaLedger, answer: unknown, from = 0): number {
  const until = from + GONE_AFTER_MS + MINUTE_MS;
  for (let now = from + MINUTE_MS; now <= until; now += MINUTE_MS) take(ledger, answer, now);
  return until;
}

describe('a poll that brings nothing', () => {
  test('changes nothing', () => {
    const ledger = ledgerOf(everything);
    const before = valuesOf(ledger.samples());
    expect(take(ledger, dataAnswer({}), MINUTE_MS)).toEqual({ fresh: 0, notes: [] });
    expect(valuesOf(ledger.samples())).toEqual(before);
  });

  test('again and again ends the states that nobody confirms, and no counter or latest event', () => {
    const ledger = ledgerOf(everything);
    const families = ['filer_lock_', 'filer_propagation_'] as const;
    const before = families.map((family) => told(ledger, family));
    pollUntilGone(ledger, dataAnswer({}));
    expect(families.map((family) => told(ledger, family))).toEqual(before);
    expect(told(ledger, 'filer_volume_last_checkin_timestamp_seconds')).toEqual({});
    expect(told(ledger, 'filer_volume_info')).toEqual({});
  });
});

describe('a filer', () => {
  test('that the others are told without is gone with all that was counted of it, begins again from zero, and no event counts again', () => {
    const ledger = ledgerOf(everything);
    expect(series(ledger, 'filer_guid="f2"')).toBeGreaterThan(5);
    const now = pollUntilGone(ledger, dataAnswer({ filers: [filer(2, 5)] }));
    expect(series(ledger, 'filer_guid="f2"')).toBe(0);
    expect(series(ledger, 'filer_guid="f1"')).toBeGreaterThan(5);
    take(ledger, dataAnswer({ filers: [filer(3, 5, two)], locks: [lock(1, two), lock(3, two)] }), now);
    const pair = 'filer_guid="f2",filer="two",volume_guid="v1",volume="projects"';
    expect(told(ledger, 'filer_lock_events_total')).toMatchObject({
      [`${pair},lock_phase="p2",lock_state="acquired"`]: 1,
    });
  });

  test('whose record comes more seldom than states stay keeps its lock state and its latest propagation', () => {
    const ledger = ledgerOf(everything, { forgetAfterMs: 86_400_000 });
    const before = ['filer_lock_', 'filer_propagation_'].map((family) => told(ledger, family));
    for (let minute = 1; minute <= 15; minute += 1) {
      const filers = minute % 5 === 0 ? everything.filers : [filer(2, 5, { filer_guid: 'f9', filer_title: 'nine' })];
      take(ledger, dataAnswer({ filers }), minute * MINUTE_MS);
      expect(['filer_lock_', 'filer_propagation_'].map((family) => told(ledger, family))).toEqual(before);
    }
  });

  test('that only events name is still there', () => {
    const ledger = ledgerOf(everything);
    pollUntilGone(ledger, dataAnswer({ filers: [filer(2, 5)], locks: [lock(1, two)] }));
    expect(told(ledger, 'filer_lock_events_total')).toMatchObject({
      'filer_guid="f2",filer="two",volume_guid="v1",volume="projects",lock_phase="p2",lock_state="acquired"': 1,
    });
  });

  test('is not found gone where the group filers is switched off', () => {
    const ledger = ledgerOf({ locks: everything.locks }, { groups: ['locks', 'propagation'] });
    const before = told(ledger, 'filer_lock_');
    pollUntilGone(ledger, dataAnswer({ locks: [lock(2, { ...two, filer_guid: 'f3' })] }));
    expect(told(ledger, 'filer_lock_')).toMatchObject(before);
  });
});

describe('a volume', () => {
  test('that the account has no more is gone with its counters on every filer', () => {
    const ledger = ledgerOf(everything);
    expect(series(ledger, 'volume_guid="v2"')).toBeGreaterThan(5);
    pollUntilGone(ledger, dataAnswer({ filers: [filer(2, 5)] }, { volumes: ['v1'] }));
    expect(series(ledger, 'volume_guid="v2"')).toBe(0);
    expect(series(ledger, 'volume_guid="v1"')).toBeGreaterThan(5);
  });

  test('that the account still has keeps its counters while nothing happens on it', () => {
    const ledger = ledgerOf(everything);
    const before = told(ledger, 'filer_lock_');
    pollUntilGone(ledger, dataAnswer({ filers: everything.filers, volumes: everything.volumes }));
    expect(told(ledger, 'filer_lock_')).toEqual(before);
  });

  test('is gone at once for nobody: a single answer without it is not enough', () => {
    const ledger = ledgerOf(everything);
    const before = told(ledger, 'filer_lock_');
    take(ledger, dataAnswer({ filers: [filer(2, 5)] }, { volumes: [] }), MINUTE_MS);
    expect(told(ledger, 'filer_lock_')).toEqual(before);
  });
});

test('a filer’s state that its own records confirm no more leaves while its counters stay', () => {
  const ledger = ledgerOf(everything);
  pollUntilGone(ledger, dataAnswer({ filers: [filer(2, 5, two)], locks: [released(1, 5)] }));
  expect(told(ledger, 'filer_volume_last_checkin_timestamp_seconds')).toEqual({
    'filer_guid="f2",filer="two",volume_guid="v1",volume="projects"': MIDNIGHT + 2 - 5,
  });
  expect(told(ledger, 'filer_lock_duration_seconds_count')).toMatchObject({ 'lock_phase="p2"': 1 });
});
