import type { JsonObject } from '../../metrics/family.ts';
import { boundedText } from '../../metrics/label-value.ts';
import { believedTime } from '../../metrics/reported-time.ts';
import { labelValue } from '../../metrics/samples.ts';
import { date, parseDecimal } from '../../metrics/units.ts';

/** A record with its time believed, in Unix seconds, and its ages counted from that. */
export interface TimedRecord {
  readonly at: number;
  /** The time in the record, which orders the records of one response; the believed one if there is none. */
  readonly reportedAt: number;
  /** The number of the response that it arrived with; 0 for an earlier process. */
  readonly response: number;
  readonly record: JsonObject;
}

/** When a response arrived, by the clock of the service in Unix seconds. */
export interface Arrival {
  readonly response: number;
  readonly time: number;
}

const SECONDS_BEFORE = ['last_checkin', 'oldest_unprotected_data'] as const;

/** A record without a time of its own gets that of its response. */
export function toTimedRecord(whole: JsonObject, { response, time }: Arrival): TimedRecord {
  const record = keptFields(whole);
  const reportedAt = date.read(record.timestamp) ?? time;
  const at = believedTime(reportedAt, time);
  const own = date.read(record.timestamp) === at ? record : { ...record, timestamp: dateOf(at) };
  // A smaller number of seconds before the record would be a time ahead.
  const ahead = SECONDS_BEFORE.filter((field) => (parseDecimal(record[field]) ?? 0) < at - time);
  const ages = ahead.map((field) => [field, at - time]);
  return { at, reportedAt, response, record: ahead.length === 0 ? own : { ...own, ...Object.fromEntries(ages) } };
}

const INFO_TIMES = ['last_info', 'last_lock_event', 'last_propagation', 'request_time'] as const;

export function clampInfoTimes(info: JsonObject, time: number): JsonObject {
  const ahead = INFO_TIMES.filter((field) => (date.read(info[field]) ?? time) > time);
  return { ...info, ...Object.fromEntries(ahead.map((field) => [field, dateOf(time)])) };
}

function dateOf(unixSeconds: number): string {
  return new Date(unixSeconds * 1000).toISOString();
}

/**
 * Whether an event replaces the one before it. In one response the reported time decides. One of a later response is
 * newer if it is reported later, and also if the time of the one before cannot be right: that was ahead when it arrived, or
 * is later than `reportedNow`, what the service or the filer reports as its own time since then.
 */
export function isNewer(event: TimedRecord, before: TimedRecord | undefined, reportedNow: number): boolean {
  if (before === undefined || event.reportedAt > before.reportedAt) return true;
  if (event.response !== before.response)
    return event.reportedAt === before.reportedAt || before.reportedAt > before.at || before.at > reportedNow;
  return event.reportedAt === before.reportedAt && tieRank(event.record) >= tieRank(before.record);
}

/** Of two events in the same second, one with a duration is the later: a lock is released after it was acquired. */
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

/** The record of the newest response, also if it reports an earlier time; of two in one response the later one. */
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

/** Every field of a record that a row of `families.ts` reads: the others are not saved. */
const READ_FIELDS = [
  'timestamp',
  ...['last_checkin', 'oldest_unprotected_data'],
  ...['volume_guid', 'mode', 'profile', 'time_to_protect'],
  ...['kind', 'prop_seconds', 'data_protected'],
  ...['lock_phase', 'lock_state', 'lock_duration'],
];

/** What is kept of a record: it may have any number of other fields, of any length. */
function keptFields(record: JsonObject): JsonObject {
  const kept = READ_FIELDS.filter((field) => record[field] !== undefined);
  return Object.fromEntries(kept.map((field) => [field, keptValue(record[field])]));
}

/** Lists and objects stay what they are, and become empty: no field is documented as one. */
function keptValue(value: unknown): unknown {
  if (typeof value === 'string') return boundedText(value);
  if (typeof value !== 'object' || value === null) return value;
  return Array.isArray(value) ? [] : {};
}

export type SavedRecord = readonly [reportedAt: number, record: JsonObject];

export function savedRecord({ reportedAt, record }: TimedRecord): SavedRecord {
  return [reportedAt, Object.fromEntries(READ_FIELDS.map((field) => [field, record[field]]))];
}

export function restoreRecord([reportedAt, record]: SavedRecord): TimedRecord {
  return { at: date.read(record.timestamp) ?? reportedAt, reportedAt, response: 0, record };
}

export type SavedCurrent = readonly [timed: SavedRecord, confirmedAt: number];

export function savedCurrent({ timed, confirmedAt }: CurrentRecord): SavedCurrent {
  return [savedRecord(timed), confirmedAt];
}

export function restoreCurrent([timed, confirmedAt]: SavedCurrent, shiftMs: number): CurrentRecord {
  return { timed: restoreRecord(timed), confirmedAt: confirmedAt + shiftMs };
}
