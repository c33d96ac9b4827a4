import type { JsonObject, Labels } from '../../metrics/family.ts';
import { enumLabelValue, labelValue, type ReportDrop } from '../../metrics/samples.ts';
import { believedTime, type Conversion, date, nonNegativeSeconds } from '../../metrics/units.ts';
import { dataProtected, type EventGroup } from './families.ts';
import type { Arrival } from './state-record.ts';

/** An event of a lock or of a propagation. */
export interface GfaEvent {
  /** When it happened, in Unix seconds. */
  readonly reportedAt: number;
  /** `reportedAt`, or the time of the response if the event is dated after it. */
  readonly at: number;
  /** The number of the response that delivered it; 0 for a response to an earlier process. */
  readonly response: number;
  /** The labels of the event itself: `kind`, or `lock_phase` and `lock_state`. */
  readonly labels: Labels;
  readonly duration: number | undefined;
  /** How many file system events a propagation covers. */
  readonly dataProtected?: number | undefined;
}

/** Undefined if the record has no time. */
export function readEvent(
  group: EventGroup,
  record: JsonObject,
  { response, time }: Arrival,
  reportDrop: ReportDrop,
): GfaEvent | undefined {
  const reportedAt = date.read(record.timestamp);
  if (reportedAt === undefined) return undefined;
  const when = { reportedAt, at: believedTime(reportedAt, time), response };
  const read = (field: string, from: Conversion) => {
    const raw = record[field];
    const value = from.read(raw);
    if (value === undefined && raw !== undefined && raw !== null) reportDrop('invalid', field);
    return value;
  };
  if (group === 'locks') {
    const labels = { lock_phase: enumLabelValue(record.lock_phase), lock_state: enumLabelValue(record.lock_state) };
    return { ...when, labels, duration: read('lock_duration', nonNegativeSeconds) };
  }
  const covered = read('data_protected', dataProtected.from);
  return {
    ...when,
    labels: { kind: enumLabelValue(record.kind) },
    duration: read('prop_seconds', nonNegativeSeconds),
    dataProtected: covered === undefined || covered < 0 ? undefined : covered,
  };
}

/** Two events of a filer on a volume with the same identity are the same event. */
export function identityOf({ reportedAt }: GfaEvent, record: JsonObject): string {
  const { kind, prop_seconds, lock_phase, lock_state, lock_duration } = record;
  return [reportedAt, kind, prop_seconds, lock_phase, lock_state, lock_duration].map(labelValue).join('\n');
}

/**
 * Whether an event replaces the newest one so far: its own time decides, however late it is delivered. There are two
 * exceptions. A time ahead of its response counts as that of the response, unless both events are in one response. And an
 * event that is later than the clock of the service since, `now`, was dated by a clock that was wrong.
 */
export function isNewer(event: GfaEvent, before: GfaEvent | undefined, now: number): boolean {
  if (before === undefined || before.at > now) return true;
  if (event.response !== before.response) return event.at >= before.at;
  if (event.reportedAt !== before.reportedAt) return event.reportedAt > before.reportedAt;
  return tieRank(event) >= tieRank(before);
}

/** Orders two events of the same second: an event with a duration is the later one, because a lock is released after it was acquired. */
function tieRank({ duration, labels }: GfaEvent): string {
  return `${duration === undefined ? 0 : 1}${labels.lock_state ?? ''}`;
}
