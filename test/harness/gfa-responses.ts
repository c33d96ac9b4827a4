import type { JsonObject } from '../../src/metrics/family.ts';
import { FilerNames } from '../../src/services/filer-names.ts';
import { parseDataResponse } from '../../src/services/gfa/data-response.ts';
import type { Group } from '../../src/services/gfa/families.ts';
import { GfaLedger, type GfaLedgerOptions, type SavedLedger } from '../../src/services/gfa/ledger.ts';
import { valuesOf } from './sample-values.ts';

/** 2026-03-02T00:00:00Z in Unix seconds: `at` of every builder counts from here. */
export const MIDNIGHT = 1_772_409_600;

export const MINUTE_MS = 60_000;

/** Intervals of a minute, STALE_AFTER is 3: states leave after three, the newest events after six, counts after a day. */
export const [STALE_MS, GONE_MS, FORGET_MS] = [3 * MINUTE_MS, 6 * MINUTE_MS, 1_440 * MINUTE_MS];

/** A time so many seconds after midnight, as the service writes it. */
export function timestamp(at: number): string {
  return new Date((MIDNIGHT + at) * 1000).toISOString().replace('.000Z', 'Z');
}

export type Records = Readonly<Partial<Record<Group, readonly unknown[]>>>;

/** A response with these records, about the volumes v1 and v2. */
export function dataResponse(records: Records, info: JsonObject = {}): JsonObject {
  const usual = { account: 'acc', volumes: ['v1', 'v2'], request_time: timestamp(86_000) };
  return { version: 1, flags: {}, info: { ...usual, ...info }, metrics: [records] };
}

function ofPair(at: number): JsonObject {
  return {
    timestamp: timestamp(at),
    filer_guid: 'f1',
    filer_title: 'one',
    volume_guid: 'v1',
    volume_title: 'projects',
  };
}

/** A lock event of f1 on v1: P2, ACQUIRED. */
export function lock(at: number, more: JsonObject = {}): JsonObject {
  return { ...ofPair(at), lock_phase: 'P2', lock_state: 'ACQUIRED', ...more };
}

/** The lock of f1 on v1 was released after so many seconds. */
export function released(at: number, seconds: number, more: JsonObject = {}): JsonObject {
  return lock(at, { lock_state: 'RELEASED', lock_duration: seconds, ...more });
}

export function propagation(at: number, seconds: number, more: JsonObject = {}): JsonObject {
  return { ...ofPair(at), kind: 'data', prop_seconds: seconds, ...more };
}

/** The state of f1 on v1. */
export function filer(at: number, checkin: number, more: JsonObject = {}): JsonObject {
  return { ...ofPair(at), last_checkin: checkin, ...more };
}

/** The state of v1. */
export function volume(at: number, more: JsonObject = {}): JsonObject {
  const usual = { timestamp: timestamp(at), volume_guid: 'v1', volume_title: 'projects' };
  return { ...usual, mode: 'Active', profile: 'default', time_to_protect: 900, ...more };
}

/** The clock of the service by its headers, which is as late as the latest response says. */
const serviceClock = { at: 0, up: 0, now: () => serviceClock.at, monotonic: () => serviceClock.up };

/** With two buckets, 10 and 60 seconds. */
export function newLedgerOptions(): GfaLedgerOptions {
  return {
    bounds: [10, 60],
    maxEvents: 10_000,
    maxPairs: 1_000,
    names: new FilerNames([]),
    serviceClock,
    staleAfterMs: STALE_MS,
    goneAfterMs: GONE_MS,
    forgetAfterMs: FORGET_MS,
  };
}

export function newLedger(options: Partial<GfaLedgerOptions> = {}): GfaLedger {
  return new GfaLedger({ ...newLedgerOptions(), ...options });
}

/** Adds a response at a monotonic time. Resolves with the number of new events, and with what was dropped. */
export async function take(
  ledger: GfaLedger,
  response: JsonObject,
  now = 0,
  headerMs = Date.parse(String((response.info as JsonObject).request_time)),
): Promise<{ readonly events: number; readonly drops: readonly string[] }> {
  Object.assign(serviceClock, { at: headerMs, up: now });
  const drops: string[] = [];
  const reportDrop = (reason: string, place: string) => void drops.push(`${reason} ${place}`);
  return { events: await ledger.add(parseDataResponse(response, reportDrop), now, reportDrop), drops };
}

export async function ledgerOf(records: Records, options: Partial<GfaLedgerOptions> = {}): Promise<GfaLedger> {
  const ledger = newLedger(options);
  await take(ledger, dataResponse(records));
  return ledger;
}

/** The ledger of the next process, which restores what the state file contains. */
export function restarted(
  ledger: GfaLedger,
  { now = 0, shiftMs = 0, ...options }: Partial<GfaLedgerOptions> & { now?: number; shiftMs?: number } = {},
): GfaLedger {
  const next = newLedger(options);
  next.restore(JSON.parse(JSON.stringify(ledger.save())) as SavedLedger, shiftMs, now);
  return next;
}

const USUAL = 'filer_guid="f1",filer="one",volume_guid="v1",volume="projects"';

/** The samples of the families that begin so, by their labels, without those of f1 on v1. */
export function shown(ledger: GfaLedger, prefix: string): Readonly<Record<string, number>> {
  const own = Object.entries(valuesOf(ledger.samples())).filter(([series]) => series.startsWith(prefix));
  return Object.fromEntries(
    own.map(([series, value]) => {
      const name = series.startsWith(`${prefix}{`) ? '' : series.slice(0, series.indexOf('{'));
      const labels = series
        .slice(series.indexOf('{') + 1, -1)
        .replace(USUAL, '')
        .replace(/^,/, '');
      return [`${name}${name && '{'}${labels}${name && '}'}`, value];
    }),
  );
}
