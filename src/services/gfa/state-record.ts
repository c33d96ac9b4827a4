import type { JsonObject } from '../../metrics/family.ts';
import { boundedId, boundedText } from '../../metrics/label-value.ts';
import { labelValue } from '../../metrics/samples.ts';
import { believedTime, date, parseDecimal } from '../../metrics/units.ts';
import { STATE_FIELDS } from './families.ts';

/** When a response arrived, by the clock of the service in Unix seconds. */
export interface Arrival {
  /** The number of the response. */
  readonly response: number;
  readonly time: number;
}

/** The record of a filer or a volume, none of whose times is later than its response. */
export interface StateRecord {
  readonly record: JsonObject;
  /** The time in the record in Unix seconds, which orders the records of one response. */
  readonly reportedAt: number;
  /** The number of the response that contained it; 0 for a response to an earlier process. */
  readonly response: number;
  /** When its response was read, in monotonic milliseconds. */
  readonly confirmedAt: number;
}

const AGES = ['last_checkin', 'oldest_unprotected_data'] as const;

/** A record without a time gets that of its response. */
export function toStateRecord(received: JsonObject, { response, time }: Arrival, confirmedAt: number): StateRecord {
  const record: Record<string, unknown> = {};
  // Only these fields are kept, because a record may have any number of others, of any length.
  for (const field of STATE_FIELDS) if (received[field] !== undefined) record[field] = keptValue(received[field]);
  const reportedAt = date.read(record.timestamp) ?? time;
  const at = believedTime(reportedAt, time);
  if (date.read(record.timestamp) !== at) record.timestamp = dateOf(at);
  // A smaller age, which is not positive, would mean a time after the response.
  for (const field of AGES) if ((parseDecimal(record[field]) ?? 0) < at - time) record[field] = at - time;
  return { record, reportedAt, response, confirmedAt };
}

/** A list or an object is kept without its content, because no field is documented as either. */
function keptValue(value: unknown): unknown {
  if (typeof value === 'string') return boundedText(value);
  if (typeof value !== 'object' || value === null) return value;
  return Array.isArray(value) ? [] : {};
}

/** The state after another record: the newest response is right, whatever its time; of two records in one response, the later one is. */
export function newerState(before: StateRecord | undefined, state: StateRecord): StateRecord {
  return before?.response === state.response && state.reportedAt < before.reportedAt ? before : state;
}

const INFO_TIMES = ['last_info', 'last_lock_event', 'last_propagation', 'request_time'] as const;

/** The fields of `info` that are shown, with times that are not later than the response. */
export function toInfo({ account, volumes, ...info }: JsonObject, time: number): JsonObject {
  const kept: Record<string, unknown> = { account: keptValue(account) };
  if (Array.isArray(volumes)) kept.volumes = volumes.map(guidOf);
  for (const field of INFO_TIMES) {
    const at = date.read(info[field]);
    if (at !== undefined) kept[field] = dateOf(believedTime(at, time));
  }
  return kept;
}

/** The guid of a filer or a volume, in lower case; empty if there is none. */
export function guidOf(raw: unknown): string {
  return boundedId(labelValue(raw).toLowerCase());
}

function dateOf(unixSeconds: number): string {
  return new Date(unixSeconds * 1000).toISOString();
}
