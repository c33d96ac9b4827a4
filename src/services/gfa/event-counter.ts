import type { JsonObject } from '../../metrics/family.ts';
import { labelValue, type ReportDrop, toSamples } from '../../metrics/samples.ts';
import { date } from '../../metrics/units.ts';
import type { SeenIds } from '../../runtime/seen-ids.ts';
import { BookmarkWatch } from './bookmark-watch.ts';
import type { DataResponse } from './data-response.ts';
import { dataProtected, type EventGroup, lockLatest, lockState, propagationLatest } from './families.ts';
import type { FilerVolume } from './filer-volume.ts';
import type { LabelValueLimits } from './label-value-limits.ts';
import { type Arrival, toTimedRecord } from './timed-record.ts';

/** For each group the field of `info` with its bookmark, and the families whose unreadable values are reported. */
const EVENT_FIELDS = {
  locks: { bookmark: 'last_lock_event', table: [lockState, lockLatest] },
  propagation: { bookmark: 'last_propagation', table: [propagationLatest, dataProtected] },
} as const satisfies Record<EventGroup, unknown>;

export interface EventDependencies {
  /** The filer and volume of a record; undefined if the record does not name them, or the maximum number is reached. */
  readonly pairOf: (record: JsonObject) => FilerVolume | undefined;
  readonly valueLimits: LabelValueLimits;
  readonly reportDrop: ReportDrop;
  readonly arrival: Arrival;
  /** Whether the group is requested: the bookmark of a group that is switched off does not advance. */
  readonly isRequested: boolean;
  readonly isAfterLoss: boolean;
}

/**
 * How long an event is remembered after its last delivery. It is not documented whether the service sends only new events,
 * overlapping windows, or everything each time. An event that first arrives so long after its own time is not counted,
 * because it may have been counted and forgotten.
 */
export const EVENTS_KEPT_MS = 86_400_000;

/** Counts each event of a group once. An event that is not remembered is new, unless it is more than a day older than its response. */
export class EventCounter {
  readonly watch = new BookmarkWatch();
  readonly #group: EventGroup;
  readonly #memory: SeenIds;

  constructor(group: EventGroup, memory: SeenIds) {
    this.#group = group;
    this.#memory = memory;
  }

  /** Adds the events of a response to their filers and volumes. Yields where it may be interrupted, and returns the number of new events. */
  *add(response: DataResponse, dependencies: EventDependencies): Generator<void, number> {
    const { info, groups, at = Number.POSITIVE_INFINITY } = response;
    const { pairOf, valueLimits, reportDrop, arrival, isRequested, isAfterLoss } = dependencies;
    const { bookmark: field, table } = EVENT_FIELDS[this.#group];
    const times: number[] = [];
    let newEvents = 0;
    for (const record of groups[this.#group]) {
      yield;
      const reportedAt = date.read(record.timestamp);
      if (reportedAt !== undefined) times.push(reportedAt);
      const pair = reportedAt === undefined ? undefined : pairOf(record);
      if (reportedAt === undefined || pair === undefined) {
        reportDrop('record', `${this.#group}.${reportedAt === undefined ? 'timestamp' : 'filer_guid'}`);
        continue;
      }
      const isLate = reportedAt < arrival.time - EVENTS_KEPT_MS / 1000;
      const identity = `${this.#group}\n${pair.key}\n${identityOf(record, reportedAt)}`;
      const delivery = this.#memory.deliver(identity, (reportedAt - arrival.time) * 1000, isLate);
      if (delivery === 'known') continue;
      const isNew = delivery === 'unknown';
      if (isNew) newEvents += 1;
      else reportDrop(delivery, `${this.#group}.timestamp`);
      toSamples(table, [record], {}, reportDrop);
      const event = toTimedRecord(valueLimits.limited(record, reportDrop), arrival);
      pair.addEvent(this.#group, event, isNew, Math.min(arrival.time, at), reportDrop);
    }
    if (isRequested) this.watch.addResponse(date.read(info[field]), times, isAfterLoss, arrival.time);
    return newEvents;
  }
}

/** Identifies an event of a filer on a volume: two events with the same identity count once. */
function identityOf(record: JsonObject, at: number): string {
  const { kind, prop_seconds, lock_phase, lock_state, lock_duration } = record;
  return [at, kind, prop_seconds, lock_phase, lock_state, lock_duration].map(labelValue).join('\n');
}
