import { type Fields, isFields } from '../../metrics/family.ts';
import { keptNumber } from '../../metrics/restored-values.ts';
import { dateSeconds } from '../../metrics/units.ts';

/** A record and its own time in Unix seconds. */
export interface Dated {
  readonly at: number;
  readonly record: Fields;
}

/**
 * The time of a state in Unix seconds. Without a time, or with a future one, the earliest possible: see
 * {@link confirmed}.
 */
export function timeOf(record: Fields, { request_time }: Fields): number {
  const at = dateSeconds(record.timestamp) ?? Number.NEGATIVE_INFINITY;
  return at <= (dateSeconds(request_time) ?? Number.POSITIVE_INFINITY) ? at : Number.NEGATIVE_INFINITY;
}

/** A record for the families that hold ages, with the answer's time if it has none of its own or a later one. */
export function withTime(record: Fields, { request_time }: Fields): Fields {
  const at = dateSeconds(record.timestamp);
  const answered = dateSeconds(request_time);
  if (answered === undefined || (at !== undefined && at <= answered)) return record;
  return { ...record, timestamp: request_time };
}

/** A record as saved in the state file: its time, null without one, and the fields that a table reads. */
export type DatedState = readonly [at: number | null, record: Fields];

/** Every field of a record that a row of `series.ts` reads. */
const KEPT: readonly string[] = [
  'timestamp',
  ...['last_checkin', 'oldest_unprotected_data'],
  ...['volume_guid', 'mode', 'profile', 'time_to_protect'],
  ...['kind', 'prop_seconds', 'data_protected'],
  ...['lock_phase', 'lock_state', 'lock_duration'],
];

export function stateOfDated({ at, record }: Dated): DatedState {
  const kept: Record<string, unknown> = {};
  for (const field of KEPT) if (record[field] !== undefined) kept[field] = record[field];
  return [Number.isFinite(at) ? at : null, kept];
}

/** The saved record. Throws a TypeError if it is not one. */
export function datedOf([at, record]: DatedState): Dated {
  if (!isFields(record)) throw new TypeError('state file: expected a record');
  return { at: at === null ? Number.NEGATIVE_INFINITY : keptNumber(at), record };
}

/** The newest record of a filer or a volume, and the latest answer with a record of it, in monotonic milliseconds. */
export interface Current {
  readonly dated: Dated;
  readonly confirmedAt: number;
}

/**
 * The newer one of two records; a late one only confirms that its subject is there. Without a usable time a record is as
 * new as its answer, and the next answer replaces it.
 */
export function confirmed(held: Current | undefined, dated: Dated, confirmedAt: number): Current {
  const isLate = held !== undefined && Number.isFinite(dated.at) && dated.at < held.dated.at;
  return { dated: isLate ? held.dated : dated, confirmedAt };
}

/** With an age instead of a moment: monotonic time ends with the process. */
export type CurrentState = readonly [dated: DatedState, ageMs: number];

export function stateOfCurrent({ dated, confirmedAt }: Current, now: number): CurrentState {
  return [stateOfDated(dated), now - confirmedAt];
}

/** The saved record. Throws a TypeError if it is not one. */
export function currentOf([dated, ageMs]: CurrentState, now: number): Current {
  return { dated: datedOf(dated), confirmedAt: now - keptNumber(ageMs) };
}
