import type { JsonObject } from '../../metrics/family.ts';
import { boundedText } from '../../metrics/label-value.ts';
import { believedTime } from '../../metrics/reported-time.ts';
import { labelValue } from '../../metrics/samples.ts';
import { date, parseDecimal } from '../../metrics/units.ts';
import { READ_FIELDS } from './families.ts';

/** A record whose time is not later than its response's, and whose ages count from that time. Times are in Unix seconds. */
export interface TimedRecord {
  readonly at: number;
  /** The time in the record, which orders the records of one response; `at` if the record has no time. */
  readonly reportedAt: number;
  /** The number of the response that contained it; 0 for a response to an earlier process. */
  readonly response: number;
  readonly record: JsonObject;
}

/** When a response arrived, by the clock of the service in Unix seconds. */
export interface Arrival {
  readonly response: number;
  readonly time: number;
}

const SECONDS_BEFORE = ['last_checkin', 'oldest_unprotected_data'] as const;

/** Adds the times to a record. A record without a time gets that of its response. */
export function toTimedRecord(received: JsonObject, { response, time }: Arrival): TimedRecord {
  const record = keptFields(received);
  const reportedAt = date.read(record.timestamp) ?? time;
  const at = believedTime(reportedAt, time);
  const dated = date.read(record.timestamp) === at ? record : { ...record, timestamp: dateOf(at) };
  // An age below `at - time`, which is not positive, would mean a time in the future.
  const futureFields = SECONDS_BEFORE.filter((field) => (parseDecimal(record[field]) ?? 0) < at - time);
  const clampedAges = futureFields.map((field) => [field, at - time]);
  return {
    at,
    reportedAt,
    response,
    record: futureFields.length === 0 ? dated : { ...dated, ...Object.fromEntries(clampedAges) },
  };
}

const INFO_TIMES = ['last_info', 'last_lock_event', 'last_propagation', 'request_time'] as const;

export function believedInfo(info: JsonObject, time: number): JsonObject {
  const reported = INFO_TIMES.map((field) => [field, date.read(info[field])] as const);
  const believed = reported.flatMap(([field, at]) =>
    at === undefined ? [] : [[field, dateOf(believedTime(at, time))] as const],
  );
  return { ...info, ...Object.fromEntries(believed) };
}

function dateOf(unixSeconds: number): string {
  return new Date(unixSeconds * 1000).toISOString();
}

/**
 * Whether an event replaces the one before it. Within one response, the reported time decides. An event of a later
 * response is newer if its time is later, and also if the earlier event's time cannot be right: it was in the future on
 * arrival, or it is later than `reportedNow`, which the service or the filer has since reported as its own time.
 */
export function isNewer(event: TimedRecord, before: TimedRecord | undefined, reportedNow: number): boolean {
  if (before === undefined || event.reportedAt > before.reportedAt) return true;
  if (event.response !== before.response)
    return event.reportedAt === before.reportedAt || before.reportedAt > before.at || before.at > reportedNow;
  return event.reportedAt === before.reportedAt && tieRank(event.record) >= tieRank(before.record);
}

/** Orders two events of the same second: an event with a duration is the later one, because a lock is released after it was acquired. */
function tieRank(record: JsonObject): string {
  const hasDuration =
    parseDecimal(record.lock_duration) !== undefined || parseDecimal(record.prop_seconds) !== undefined;
  return `${hasDuration ? 1 : 0}${labelValue(record.lock_state)}`;
}

/** The newest record of a filer or a volume, and when its response was read, in monotonic milliseconds. */
export interface CurrentRecord {
  readonly timed: TimedRecord;
  readonly confirmedAt: number;
}

/** The current record after another one: the record of the newer response, even if its time is earlier; of two in one response, the later one. */
export function confirmRecord(
  before: CurrentRecord | undefined,
  timed: TimedRecord,
  confirmedAt: number,
  onDuplicate: () => void,
): CurrentRecord {
  if (before?.timed.response !== timed.response) return { timed, confirmedAt };
  onDuplicate();
  return timed.reportedAt < before.timed.reportedAt ? before : { timed, confirmedAt };
}

/** The fields of a record that are kept, because it may have any number of others, of any length. */
function keptFields(record: JsonObject): JsonObject {
  const kept = READ_FIELDS.filter((field) => record[field] !== undefined);
  return Object.fromEntries(kept.map((field) => [field, keptValue(record[field])]));
}

/** A list or an object becomes an empty one, because no field is documented as either. */
function keptValue(value: unknown): unknown {
  if (typeof value === 'string') return boundedText(value);
  if (typeof value !== 'object' || value === null) return value;
  return Array.isArray(value) ? [] : {};
}

export type SavedRecord = readonly [reportedAt: number, record: JsonObject];

export function savedRecord({ reportedAt, record }: TimedRecord): SavedRecord {
  return [reportedAt, record];
}

export function restoreRecord([reportedAt, record]: SavedRecord): TimedRecord {
  return { at: date.read(record.timestamp) ?? reportedAt, reportedAt, response: 0, record };
}

export type SavedCurrent = readonly [timed: SavedRecord, confirmedAt: number];

export function savedCurrent(current: CurrentRecord | undefined): SavedCurrent | null {
  return current === undefined ? null : [savedRecord(current.timed), current.confirmedAt];
}

export function restoreCurrent([timed, confirmedAt]: SavedCurrent, shiftMs: number): CurrentRecord {
  return { timed: restoreRecord(timed), confirmedAt: confirmedAt + shiftMs };
}
