import { type Fields, isFields } from '../../metrics/family.ts';
import { keptNumber } from '../../metrics/restored-values.ts';

/** A record and its own time in Unix seconds. */
export interface Dated {
  readonly at: number;
  readonly record: Fields;
}

/** A record as kept over restarts: its time, null where it had none, and those of its fields that a table reads. */
export type DatedState = readonly [at: number | null, record: Fields];

/** Every field of a record that a row of `series.ts` reads. */
const KEPT: readonly string[] = [
  'timestamp',
  ...['last_checkin', 'oldest_unprotected_data'],
  ...['volume_guid', 'mode', 'profile', 'time_to_protect'],
  ...['kind', 'prop_seconds', 'data_protected'],
  ...['lock_phase', 'lock_state', 'lock_duration'],
];

/** What {@link datedOf} takes. */
export function stateOfDated({ at, record }: Dated): DatedState {
  const kept: Record<string, unknown> = {};
  for (const field of KEPT) if (record[field] !== undefined) kept[field] = record[field];
  return [Number.isFinite(at) ? at : null, kept];
}

/** The record that was kept. Throws a TypeError where it is none. */
export function datedOf([at, record]: DatedState): Dated {
  if (!isFields(record)) throw new TypeError('expected a record in what was kept');
  return { at: at === null ? Number.NEGATIVE_INFINITY : keptNumber(at), record };
}
