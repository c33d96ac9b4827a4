import type { JsonObject } from '../../src/metrics/family.ts';
import { runToEnd } from '../../src/runtime/slices.ts';
import { FilerNames } from '../../src/services/filer-names.ts';
import { parseDataResponse } from '../../src/services/gfa/data-response.ts';
import { GROUPS, type Group } from '../../src/services/gfa/families.ts';
import { GfaLedger, type GfaLedgerOptions } from '../../src/services/gfa/ledger.ts';
import type { Piece } from '../../src/services/gfa/saved-ledger.ts';
import { valuesOf } from './exposition-lines.ts';
import { readAgain } from './kept.ts';

/** 2026-03-02T00:00:00Z in Unix seconds: `at` of every builder counts from here. */
export const MIDNIGHT = 1_772_409_600;

/** A moment so many seconds after midnight, as the service writes it. */
export function timestamp(at: number): string {
  return new Date((MIDNIGHT + at) * 1000).toISOString().replace('.000Z', 'Z');
}

/** The records of one metrics object. */
export type Records = Readonly<Partial<Record<Group, readonly unknown[]>>>;

/** An answer of `GET /data` with these records, about the volumes v1 and v2. */
export function dataAnswer(records: Records, info: JsonObject = {}): JsonObject {
  const usual = { account: 'acc', volumes: ['v1', 'v2'], last_info: timestamp(0), request_time: timestamp(86_000) };
  const events = { last_lock_event: timestamp(86_000), last_propagation: timestamp(86_000) };
  return { version: 1, flags: {}, info: { ...usual, ...events, ...info }, metrics: [records] };
}

/** What every record says of filer f1 on volume v1. */
function pairRecord(at: number): JsonObject {
  return {
    timestamp: timestamp(at),
    filer_guid: 'f1',
    filer_title: 'one',
    volume_guid: 'v1',
    volume_title: 'projects',
  };
}

/** A lock event of f1 on v1, P2, ACQUIRED. */
export function lock(at: number, more: JsonObject = {}): JsonObject {
  return { ...pairRecord(at), lock_phase: 'P2', lock_state: 'ACQUIRED', ...more };
}

/** A lock of f1 on v1 given back after so many seconds. */
export function released(at: number, seconds: number, more: JsonObject = {}): JsonObject {
  return lock(at, { lock_state: 'RELEASED', lock_duration: seconds, ...more });
}

/** A propagation event of f1 on v1, kind data. */
export function propagation(at: number, seconds: number, more: JsonObject = {}): JsonObject {
  return { ...pairRecord(at), kind: 'data', prop_seconds: seconds, ...more };
}

/** The state of f1 on v1. */
export function filer(at: number, checkin: number, more: JsonObject = {}): JsonObject {
  return { ...pairRecord(at), last_checkin: checkin, ...more };
}

/** The state of v1. */
export function volume(at: number, more: JsonObject = {}): JsonObject {
  const usual = { timestamp: timestamp(at), volume_guid: 'v1', volume_title: 'projects' };
  return { ...usual, mode: 'Active', profile: 'default', time_to_protect: 900, ...more };
}

/** The time after which what no answer names is gone, in milliseconds. */
export const GONE_AFTER_MS = 180_000;

/** The measured clock of the service, which tells what the latest answer of these tests tells. */
const serviceClock = {
  at: { now: 0, monotonic: 0 },
  now: () => serviceClock.at.now,
  monotonic: () => serviceClock.at.monotonic,
};

/** The settings of a ledger with two buckets, 10 and 60 seconds. */
export function ledgerSettings(more: Partial<GfaLedgerOptions> = {}): GfaLedgerOptions {
  return {
    bounds: [10, 60],
    maxEvents: 10_000,
    groups: GROUPS,
    maxPairs: Number.POSITIVE_INFINITY,
    names: new FilerNames([]),
    serviceClock,
    goneAfterMs: GONE_AFTER_MS,
    forgetAfterMs: 86_400_000,
    ...more,
  };
}

/** A ledger that forgets as soon as something is gone. */
export function newLedger(more: Partial<GfaLedgerOptions> = {}): GfaLedger {
  return new GfaLedger(ledgerSettings({ forgetAfterMs: GONE_AFTER_MS, ...more }));
}

/** Reads and absorbs an answer at a moment, by the service's clock `date`; how many events were new, and what was noted. */
export function take(
  ledger: GfaLedger,
  answer: unknown,
  now = 0,
  date = Date.parse(String((answer as { info: JsonObject }).info.request_time)),
): { readonly fresh: number; readonly notes: string[] } {
  serviceClock.at = { now: Number.isNaN(date) ? (MIDNIGHT + 86_400) * 1000 : date, monotonic: now };
  const notes: string[] = [];
  const note = (reason: string, place: string) => void notes.push(`${reason} ${place}`);
  return { fresh: runToEnd(ledger.add(parseDataResponse(answer, note), now, note)), notes };
}

/** Another process's ledger, with what the first one kept, by a monotonic clock that differs by so much. */
export function reborn(ledger: GfaLedger, { shiftMs = 0, now = 0 }, more: Partial<GfaLedgerOptions> = {}): GfaLedger {
  const after = newLedger(more);
  for (const piece of readAgain(ledger.all())) after.put(piece as Piece, shiftMs);
  after.finishRestoring(now);
  return after;
}

/** A ledger that has taken in an answer with these records. */
export function ledgerOf(records: Records, more: Partial<GfaLedgerOptions> = {}): GfaLedger {
  const ledger = newLedger(more);
  take(ledger, dataAnswer(records));
  return ledger;
}

/** The ledger's samples of one family and its lines, by labels; without the labels that are those of f1 on v1. */
export function told(ledger: GfaLedger, family: string): Readonly<Record<string, number>> {
  const own = [...ledger.samples()].filter(({ name }) => name.startsWith(family));
  const values: Record<string, number> = {};
  for (const [series, value] of Object.entries(valuesOf(own))) {
    const short = series
      .replace(family, '')
      .replace('filer_guid="f1",filer="one",volume_guid="v1",volume="projects"', '')
      .replaceAll(/^(\w*)\{,?|\}$/g, '$1');
    values[short] = value;
  }
  return values;
}
