import type { EventMemory } from '../../metrics/event-memory.ts';
import type { Fields } from '../../metrics/family.ts';
import { type NoteDrop, text, toSamples } from '../../metrics/samples.ts';
import { dateSeconds } from '../../metrics/units.ts';
import { BookmarkWatch } from './bookmark-watch.ts';
import { datedIn } from './dated.ts';
import type { FilerVolume } from './filer-volume.ts';
import type { LabelWords } from './label-words.ts';
import type { DataAnswer } from './records.ts';
import { dataProtected, lockLatest, lockState, propagationLatest } from './series.ts';

/** The groups whose records are events: the field of `info` that has their bookmark, and the families checked so that unreadable values are noted. */
const KINDS = {
  locks: { bookmark: 'last_lock_event', table: [lockState, lockLatest] },
  propagation: { bookmark: 'last_propagation', table: [propagationLatest, dataProtected] },
} as const;

export type EventKind = keyof typeof KINDS;

export const EVENT_GROUPS = ['locks', 'propagation'] as const satisfies readonly EventKind[];

export interface EventParts {
  /** The filer on a volume that a record is about; undefined where it cannot be told, or there is no room for it. */
  readonly pairOf: (record: Fields, at: number) => FilerVolume | undefined;
  readonly words: LabelWords;
  readonly note: NoteDrop;
  /** Unix seconds: an unknown event from before is not counted. */
  readonly since: number;
  /** Whether the group is asked for: the bookmark of one that is switched off does not move. */
  readonly isAsked: boolean;
  readonly isAfterLoss: boolean;
}

/** An event that first arrives longer after its own time is not counted, in seconds. The memory of events is as long. */
export const EVENTS_COUNT_FOR_SECONDS = 86_400;

/** Each counted once: an event that is not remembered is new, unless it is more than a day older than the answer. */
export class Events {
  readonly watch = new BookmarkWatch();
  readonly #group: EventKind;
  readonly #memory: EventMemory;

  constructor(group: EventKind, memory: EventMemory) {
    this.#group = group;
    this.#memory = memory;
  }

  /** Hands the events of an answer to their pairs; yields where it may be interrupted. Returns how many were new. */
  *take(answer: DataAnswer, parts: EventParts): Generator<void, number> {
    const { info, groups } = answer;
    const { pairOf, words, note, since, isAsked, isAfterLoss } = parts;
    const { bookmark: field, table } = KINDS[this.#group];
    const times: number[] = [];
    let fresh = 0;
    for (const record of groups[this.#group]) {
      yield;
      const told = dateSeconds(record.timestamp);
      if (told !== undefined) times.push(told);
      const dated = datedIn(record, answer);
      const pair = told === undefined ? undefined : pairOf(record, dated.at);
      if (told === undefined || pair === undefined) {
        note('record', `${this.#group}.${told === undefined ? 'timestamp' : 'filer_guid'}`);
        continue;
      }
      const delivered = this.#memory.deliver(memoryKey(this.#group, pair), identityOf(record, told));
      if (delivered === 'known') continue;
      const isLate = told < since;
      if (isLate || delivered === 'full') note(isLate ? 'late' : 'full', `${this.#group}.timestamp`);
      const isFresh = !isLate && delivered === 'unknown';
      if (isFresh) fresh += 1;
      toSamples(table, [record], {}, note);
      pair.takeEvent(this.#group, { at: dated.at, record: words.limited(dated.record, note) }, isFresh);
    }
    if (isAsked) this.watch.answered(dateSeconds(info[field]), times, isAfterLoss);
    return fresh;
  }
}

export function memoryKey(group: EventKind, { key }: FilerVolume): string {
  return `${group}\n${key}`;
}

/** The identity of an event besides filer and volume: equal events count once. It begins with the event's own time. */
function identityOf(record: Fields, at: number): string {
  const { kind, prop_seconds, lock_phase, lock_state, lock_duration } = record;
  return [at, kind, prop_seconds, lock_phase, lock_state, lock_duration].map(text).join('\n');
}

export function timeOfIdentity(identity: string): number {
  return Number.parseFloat(identity);
}
