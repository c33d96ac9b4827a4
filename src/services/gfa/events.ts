import type { JsonObject } from '../../metrics/family.ts';
import { labelValue, type ReportDrop, toSamples } from '../../metrics/samples.ts';
import { date } from '../../metrics/units.ts';
import { BookmarkWatch } from './bookmark-watch.ts';
import { type Arrival, datedIn } from './dated.ts';
import type { EventMemory } from './event-memory.ts';
import type { FilerVolume } from './filer-volume.ts';
import type { LabelWords } from './label-words.ts';
import type { DataAnswer } from './records.ts';
import { dataProtected, type EventKind, lockLatest, lockState, propagationLatest } from './series.ts';

/** The field of `info` that has the bookmark of the events, and the families checked so that unreadable values are noted. */
const KINDS = {
  locks: { bookmark: 'last_lock_event', table: [lockState, lockLatest] },
  propagation: { bookmark: 'last_propagation', table: [propagationLatest, dataProtected] },
} as const satisfies Record<EventKind, unknown>;

export interface EventDependencies {
  /** The filer on a volume that a record is about; undefined where it cannot be told, or there is no room for it. */
  readonly pairOf: (record: JsonObject) => FilerVolume | undefined;
  readonly words: LabelWords;
  readonly note: ReportDrop;
  readonly arrival: Arrival;
  /** Whether the group is asked for: the bookmark of one that is switched off does not move. */
  readonly isAsked: boolean;
  readonly isAfterLoss: boolean;
}

/** An event that first arrives longer after its own time is not counted, in seconds. The memory of events is as long. */
const EVENTS_COUNT_FOR_SECONDS = 86_400;

/** Each counted once: an event that is not remembered is new, unless it is more than a day older than its response. */
export class Events {
  readonly watch = new BookmarkWatch();
  readonly #group: EventKind;
  readonly #memory: EventMemory;

  constructor(group: EventKind, memory: EventMemory) {
    this.#group = group;
    this.#memory = memory;
  }

  /** Hands the events of an answer to their pairs; yields where it may be interrupted. Returns how many were new. */
  *take(answer: DataAnswer, parts: EventDependencies): Generator<void, number> {
    const { info, groups, at = Number.POSITIVE_INFINITY } = answer;
    const { pairOf, words, note, arrival, isAsked, isAfterLoss } = parts;
    const { bookmark: field, table } = KINDS[this.#group];
    const times: number[] = [];
    let fresh = 0;
    for (const record of groups[this.#group]) {
      yield;
      const reportedAt = date.read(record.timestamp);
      if (reportedAt !== undefined) times.push(reportedAt);
      const pair = reportedAt === undefined ? undefined : pairOf(record);
      if (reportedAt === undefined || pair === undefined) {
        note('record', `${this.#group}.${reportedAt === undefined ? 'timestamp' : 'filer_guid'}`);
        continue;
      }
      const isLate = reportedAt < arrival.time - EVENTS_COUNT_FOR_SECONDS;
      const identity = `${this.#group}\n${pair.key}\n${identityOf(record, reportedAt)}`;
      const delivered = this.#memory.deliver(identity, (reportedAt - arrival.time) * 1000, isLate);
      if (delivered === 'known') continue;
      const isNew = delivered === 'unknown';
      if (isNew) fresh += 1;
      else note(delivered, `${this.#group}.timestamp`);
      toSamples(table, [record], {}, note);
      const event = datedIn(words.limited(record, note), arrival);
      pair.takeEvent(this.#group, event, isNew, Math.min(arrival.time, at));
    }
    if (isAsked) this.watch.answered(date.read(info[field]), times, isAfterLoss, arrival.time);
    return fresh;
  }
}

/** The identity of an event besides filer and volume: equal events count once. It begins with the event's own time. */
function identityOf(record: JsonObject, at: number): string {
  const { kind, prop_seconds, lock_phase, lock_state, lock_duration } = record;
  return [at, kind, prop_seconds, lock_phase, lock_state, lock_duration].map(labelValue).join('\n');
}
