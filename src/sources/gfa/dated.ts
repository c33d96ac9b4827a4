import type { Fields } from '../../metrics/family.ts';
import { dateSeconds, decimal } from '../../metrics/units.ts';
import type { DataAnswer } from './records.ts';

/** A record and its own time in Unix seconds; minus infinity without one: see {@link confirmed}. */
export interface Dated {
  readonly at: number;
  readonly record: Fields;
}

/** Without a time of its own, the record gets the answer's, for the families that hold ages; a time ahead counts as the answer's. */
export function datedIn(record: Fields, { info, at: answered = Number.POSITIVE_INFINITY }: DataAnswer): Dated {
  const at = dateSeconds(record.timestamp);
  if (at !== undefined && at <= answered) return { at, record: withoutAhead(record, at - answered) };
  const timed = Number.isFinite(answered) ? { ...record, timestamp: info.request_time } : record;
  return { at: at === undefined ? Number.NEGATIVE_INFINITY : answered, record: withoutAhead(timed, 0) };
}

const SECONDS_BEFORE = ['last_checkin', 'oldest_unprotected_data'] as const;

/** Below `least` seconds, which is the answer's time, an age would be a time ahead. */
function withoutAhead(record: Fields, least: number): Fields {
  const ahead = SECONDS_BEFORE.filter((field) => (decimal(record[field]) ?? least) < least);
  return ahead.length === 0 ? record : { ...record, ...Object.fromEntries(ahead.map((field) => [field, least])) };
}

const INFO_TIMES = ['last_info', 'last_lock_event', 'last_propagation'] as const;

export function infoIn({ info, at: answered = Number.POSITIVE_INFINITY }: DataAnswer): Fields {
  const ahead = INFO_TIMES.filter((field) => (dateSeconds(info[field]) ?? answered) > answered);
  return { ...info, ...Object.fromEntries(ahead.map((field) => [field, info.request_time])) };
}

/** The newest record of a filer or a volume, and the latest answer with a record of it, in monotonic milliseconds. */
export interface Current {
  readonly dated: Dated;
  readonly confirmedAt: number;
}

/** A late one only confirms. Without a usable time a record is as new as its answer, and the next one replaces it. */
export function confirmed(held: Current | undefined, dated: Dated, confirmedAt: number): Current {
  const isLate = held !== undefined && Number.isFinite(dated.at) && dated.at < held.dated.at;
  return { dated: isLate ? held.dated : dated, confirmedAt };
}

/** Every field of a record that a row of `series.ts` reads: the others are not saved. */
const READ_FIELDS = [
  'timestamp',
  ...['last_checkin', 'oldest_unprotected_data'],
  ...['volume_guid', 'mode', 'profile', 'time_to_protect'],
  ...['kind', 'prop_seconds', 'data_protected'],
  ...['lock_phase', 'lock_state', 'lock_duration'],
];

/** In the state file, as JSON: what is undefined or infinite is null there. */
export type SavedDated = readonly [at: number | null, record: Fields];

export function savedDated({ at, record }: Dated): SavedDated {
  return [at, Object.fromEntries(READ_FIELDS.map((field) => [field, record[field]]))];
}

export function datedFrom([at, record]: SavedDated): Dated {
  return { at: at ?? Number.NEGATIVE_INFINITY, record };
}

export type SavedCurrent = readonly [dated: SavedDated, ageMs: number];

export function savedCurrent({ dated, confirmedAt }: Current, now: number): SavedCurrent {
  return [savedDated(dated), now - confirmedAt];
}

export function currentFrom([dated, ageMs]: SavedCurrent, then: number): Current {
  return { dated: datedFrom(dated), confirmedAt: then - ageMs };
}
