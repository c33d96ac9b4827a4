import { EventMemory, type MemoryLimits } from '../../metrics/event-memory.ts';
import type { Fields } from '../../metrics/family.ts';
import { type NoteDrop, text, toSamples } from '../../metrics/samples.ts';
import { dateSeconds } from '../../metrics/units.ts';
import { BookmarkWatch } from './bookmark-watch.ts';
import { datedIn } from './dated.ts';
import type { Pair } from './filer-volume.ts';
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
  readonly pairOf: (record: Fields, at: number) => Pair | undefined;
  readonly words: LabelWords;
  readonly note: NoteDrop;
  /** Whether the group is asked for: the bookmark of one that is switched off does not move. */
  readonly isAsked: boolean;
  /** An answer may have got lost since the last one. */
  readonly isAfterLoss: boolean;
}

/** The events of one group, each counted once however often it comes. */
export class Events {
  readonly memory: EventMemory;
  readonly watch = new BookmarkWatch();
  readonly #group: EventKind;

  constructor(group: EventKind, limits: MemoryLimits) {
    this.#group = group;
    this.memory = new EventMemory(limits);
  }

  /** Hands the events of an answer to their pairs; yields where it may be interrupted. Returns how many were new. */
  *take(answer: DataAnswer, parts: EventParts): Generator<void, number> {
    const { info, groups, at: answered = Number.POSITIVE_INFINITY } = answer;
    const { pairOf, words, note, isAsked, isAfterLoss } = parts;
    const { bookmark: field, table } = KINDS[this.#group];
    const times: number[] = [];
    let fresh = 0;
    let oldest = Number.POSITIVE_INFINITY;
    let newest = Number.NEGATIVE_INFINITY;
    for (const record of groups[this.#group]) {
      yield;
      const dated = datedIn(record, answer);
      const told = Number.isFinite(dated.at) ? dated.at : dateSeconds(record.timestamp);
      if (told !== undefined) times.push(told);
      const at = told === undefined ? undefined : Math.min(told, answered);
      const pair = at === undefined ? undefined : pairOf(record, at);
      if (at === undefined || pair === undefined) {
        note('record', `${this.#group}.${at === undefined ? 'timestamp' : 'filer_guid'}`);
        continue;
      }
      oldest = Math.min(oldest, at);
      newest = Math.max(newest, at);
      const isFresh = this.memory.admit(pair.key, identityOf(record, told ?? at), at);
      if (isFresh) fresh += 1;
      toSamples(table, [record], {}, note);
      pair.takeEvent(this.#group, { at, record: words.limited(dated.record, note) }, isFresh);
    }
    const bookmark = dateSeconds(info[field]);
    this.memory.answered(oldest, newest, bookmark);
    if (isAsked) this.watch.answered(bookmark, times, isAfterLoss);
    return fresh;
  }
}

/** The identity of an event besides filer and volume (interface.md, section 4): equal events count once. */
function identityOf(record: Fields, at: number): string {
  const { kind, prop_seconds, lock_phase, lock_state, lock_duration } = record;
  return [at, kind, prop_seconds, lock_phase, lock_state, lock_duration].map(text).join('\n');
}
