import {
  EventMemory,
  type EventMemoryState,
  type MemoryLimits,
  type PairMemoryState,
} from '../../metrics/event-memory.ts';
import { type Fields, isFields } from '../../metrics/family.ts';
import type { HistogramSettings } from '../../metrics/histogram.ts';
import { LabelCap } from '../../metrics/label-limit.ts';
import { keptNumber, keptText } from '../../metrics/restored-values.ts';
import { type NoteDrop, type Sample, text, toSamples, wordOf } from '../../metrics/samples.ts';
import { dateSeconds } from '../../metrics/units.ts';
import type { FilerNames } from '../filer-names.ts';
import { type BookmarkState, BookmarkWatch, isKeyShared } from './bookmark-watch.ts';
import { type Dated, type DatedState, datedOf, stateOfDated } from './dated.ts';
import { Directory, type DirectoryState } from './directory.ts';
import { Pair, type PairState } from './filer-volume.ts';
import type { DataAnswer } from './records.ts';
import {
  dataProtected,
  filerOnVolumeTable,
  filerTable,
  type Group,
  infoTable,
  lockLatest,
  lockState,
  propagationLatest,
  recordTimestamp,
  volumeTable,
} from './series.ts';

/** The fields of an event to check, so that unreadable values are noted. */
const eventTables = { locks: [lockState, lockLatest], propagation: [propagationLatest, dataProtected] } as const;

const bookmarks = { locks: 'last_lock_event', propagation: 'last_propagation' } as const;

/** The groups whose records are events. */
const EVENT_GROUPS = ['locks', 'propagation'] as const;

export interface LedgerSettings {
  readonly histograms: HistogramSettings;
  readonly memory: MemoryLimits;
  /** The requested groups: the absence of any other group means nothing. */
  readonly groups: readonly Group[];
  /** The most filers on volumes, and the most volumes; further ones are noted and skipped. */
  readonly mostPairs?: number;
  /** How long a current state stays without an answer that contains it, in milliseconds. */
  readonly goneAfterMs: number;
  /**
   * How long counts and known events stay without an answer that names their filer or volume, in milliseconds; default
   * one day.
   */
  readonly forgetAfterMs?: number;
  /** The names of filers in both services; without it each has its title. */
  readonly names?: FilerNames;
}

interface VolumeState {
  readonly dated: Dated;
  confirmedAt: number;
}

const DAY_MS = 86_400_000;

/**
 * Combines all answers of `GET /data`: the current state of filers and volumes, and every event counted once. A poll
 * may bring everything or only what is new since the last one (upstream-api.md 2.4); the result is the same, in any
 * order.
 */
export class Ledger {
  readonly #settings: LedgerSettings;
  readonly #filers = new Directory();
  readonly #volumes = new Directory();
  readonly #pairs = new Map<string, Pair>();
  readonly #volumeStates = new Map<string, VolumeState>();
  readonly #memories: Readonly<Record<'locks' | 'propagation', EventMemory>>;
  readonly #caps = {
    kind: new LabelCap(),
    lock_phase: new LabelCap(),
    lock_state: new LabelCap(),
    mode: new LabelCap(),
    profile: new LabelCap(),
  };
  readonly #watches = { locks: new BookmarkWatch(), propagation: new BookmarkWatch() };
  readonly #mostPairs: number;
  #isKeyShared = false;
  /** The names of filers in the ledger that this one continues, by guid. */
  #calledBefore: ReadonlyMap<string, string> = new Map();
  #info: Fields = {};
  /** Monotonic milliseconds of the latest answer; undefined before the first. */
  #answeredAt: number | undefined;
  /** The same of the latest answer with a current record of any filer. */
  #namedAt = Number.NEGATIVE_INFINITY;

  constructor(settings: LedgerSettings) {
    this.#settings = settings;
    this.#mostPairs = settings.mostPairs ?? Number.POSITIVE_INFINITY;
    this.#memories = { locks: new EventMemory(settings.memory), propagation: new EventMemory(settings.memory) };
  }

  /** How many events are remembered, and how many were evicted. */
  get memory(): { readonly size: number; readonly evicted: number } {
    const { locks, propagation } = this.#memories;
    return { size: locks.size + propagation.size, evicted: locks.evicted + propagation.evicted };
  }

  /** The account of the latest answer; empty while unknown. */
  get account(): string {
    return text(this.#info.account);
  }

  get answeredAt(): number | undefined {
    return this.#answeredAt;
  }

  /** What the service's bookmarks show about lost events; see {@link BookmarkWatch}. */
  get bookmarks(): { readonly missed: number; readonly isSuspicious: boolean } {
    const { locks, propagation } = this.#watches;
    return {
      missed: locks.missed + propagation.missed,
      isSuspicious: this.#isKeyShared,
    };
  }

  /**
   * Adds an answer and removes what is gone; `now` in monotonic milliseconds. A generator that yields wherever it may
   * be interrupted, because an answer can have hundreds of thousands of records. `isAfterLoss` if an answer may have
   * been lost since the last one. Returns the number of new events.
   */
  *absorb(answer: DataAnswer, now: number, note: NoteDrop, isAfterLoss = false): Generator<void, number> {
    this.#info = answer.info;
    this.#answeredAt = now;
    toSamples(infoTable, [answer.info], {}, note);
    for (const record of answer.groups.volumes) {
      this.#takeVolume(withTime(record, answer.info), timeOf(record, answer.info), now, note);
      yield;
    }
    for (const record of answer.groups.filers) {
      this.#takeFiler(withTime(record, answer.info), timeOf(record, answer.info), now, note);
      yield;
    }
    const locks = yield* this.#takeEvents('locks', answer, now, note, isAfterLoss);
    const propagation = yield* this.#takeEvents('propagation', answer, now, note, isAfterLoss);
    this.#isKeyShared = isKeyShared(Object.values(this.#watches), this.#isKeyShared);
    this.#retire(answer, now);
    return locks + propagation;
  }

  /** The titles of the known filers, by guid. */
  titles(): Iterable<readonly [guid: string, title: string]> {
    return this.#filers.titles();
  }

  /** Every sample of the ledger. Yields nothing until an answer has been absorbed. */
  *samples(): Generator<Sample> {
    if (this.#answeredAt === undefined) return;
    yield* toSamples(infoTable, [this.#info], {});
    for (const [guid, { dated }] of this.#volumeStates) {
      const labels = { volume_guid: guid, volume: this.#volumes.titleOf(guid) };
      yield* toSamples(volumeTable, [dated.record], labels);
      yield* toSamples([recordTimestamp], [dated.record], { filer_guid: '', filer: '', ...labels, group: 'volumes' });
    }
    for (const pair of this.#pairs.values()) {
      const labels = {
        filer_guid: pair.filer,
        filer: this.#nameOf(pair.filer),
        volume_guid: pair.volume,
        volume: pair.volume === '' ? '' : this.#volumes.titleOf(pair.volume),
      };
      yield* pair.samples(labels, this.#isNamed(pair));
    }
  }

  /** The state for {@link Ledger.restore}: a heading, then each filer and volume, because there can be many. */
  *state(now: number): Generator<LedgerHeading | PairLine> {
    const { locks, propagation } = this.#memories;
    yield {
      info: this.#info,
      ageMs: this.#answeredAt === undefined ? null : now - this.#answeredAt,
      filers: this.#filers.state(now),
      called: [...new Set([...this.#pairs.values()].map(({ filer }) => filer))].map((guid) => [
        guid,
        this.#nameOf(guid),
      ]),
      volumes: this.#volumes.state(now),
      volumeStates: [...this.#volumeStates].map(([guid, { dated, confirmedAt }]) => {
        return [guid, stateOfDated(dated), now - confirmedAt];
      }),
      words: Object.fromEntries(Object.entries(this.#caps).map(([field, cap]) => [field, cap.state()])),
      memories: { locks: locks.state(), propagation: propagation.state() },
      bookmarks: { locks: this.#watches.locks.state(), propagation: this.#watches.propagation.state() },
    };
    for (const [key, pair] of this.#pairs) {
      yield { pair: pair.state(now), locks: locks.stateOf(key), propagation: propagation.stateOf(key) };
    }
  }

  /**
   * Continues from a saved ledger, saved `elapsedMs` ago: everything is as old as if that ledger had received no answer
   * meanwhile, and unconfirmed states past their time are gone. Only for a ledger that has absorbed nothing yet. A
   * generator, like {@link Ledger.absorb}.
   */
  *restore([heading, ...lines]: readonly unknown[], elapsedMs: number, now: number): Generator<void> {
    const then = now - elapsedMs;
    const saved = heading as LedgerHeading;
    if (!isFields(saved.info)) throw new TypeError('state file: expected the info of an answer');
    this.#info = saved.info;
    this.#answeredAt = saved.ageMs === null ? undefined : then - keptNumber(saved.ageMs);
    this.#filers.restore(saved.filers, then);
    this.#calledBefore = new Map((saved.called ?? []).map(([guid, name]) => [keptText(guid), keptText(name)]));
    this.#volumes.restore(saved.volumes, then);
    for (const [guid, dated, ageMs] of saved.volumeStates) {
      this.#volumeStates.set(keptText(guid), { dated: datedOf(dated), confirmedAt: then - keptNumber(ageMs) });
    }
    for (const [field, cap] of Object.entries(this.#caps)) cap.restore(saved.words[field] ?? []);
    for (const group of EVENT_GROUPS) {
      this.#memories[group].restore(saved.memories[group]);
      this.#watches[group].restore(saved.bookmarks[group]);
    }
    for (const line of lines as readonly PairLine[]) {
      const pair = Pair.restore(line.pair, this.#settings.histograms, then);
      const key = pairKey(pair.filer, pair.volume);
      this.#pairs.set(key, pair);
      for (const group of EVENT_GROUPS) this.#memories[group].restorePair(key, line[group]);
      yield;
    }
    this.#retireStates(now - this.#settings.goneAfterMs);
  }

  /** Until the inventory has been read, a filer keeps its name from before the restart. */
  #nameOf(guid: string): string {
    const { names } = this.#settings;
    const title = this.#filers.titleOf(guid);
    if (names === undefined) return title;
    const name = names.ofFiler(guid, title);
    return names.isSettled ? name : (this.#calledBefore.get(guid) ?? name);
  }

  #takeVolume(record: Fields, at: number, now: number, note: NoteDrop): void {
    const guid = text(record.volume_guid);
    if (guid === '') {
      note('record', 'volumes.volume_guid');
      return;
    }
    if (!this.#volumeStates.has(guid) && this.#volumeStates.size >= this.#mostPairs) {
      note('record', 'volumes.volume_guid');
      return;
    }
    const dated = { at, record: this.#capped(record, note) };
    this.#volumes.see(guid, record.volume_title, dated.at, now);
    toSamples(volumeTable, [record], {}, note);
    const held = this.#volumeStates.get(guid);
    if (held === undefined || dated.at >= held.dated.at) this.#volumeStates.set(guid, { dated, confirmedAt: now });
    else held.confirmedAt = now;
  }

  #takeFiler(record: Fields, at: number, now: number, note: NoteDrop): void {
    const pair = this.#pairOf(record, at, now);
    if (pair === undefined) {
      note('record', 'filers.filer_guid');
      return;
    }
    toSamples(pair.volume === '' ? filerTable : filerOnVolumeTable, [record], {}, note);
    pair.takeCurrent({ at, record }, now);
  }

  *#takeEvents(
    group: (typeof EVENT_GROUPS)[number],
    answer: DataAnswer,
    now: number,
    note: NoteDrop,
    isAfterLoss: boolean,
  ): Generator<void, number> {
    const times: number[] = [];
    const memory = this.#memories[group];
    let fresh = 0;
    let oldest = Number.POSITIVE_INFINITY;
    let newest = Number.NEGATIVE_INFINITY;
    for (const record of answer.groups[group]) {
      yield;
      const told = dateSeconds(record.timestamp);
      if (told !== undefined) times.push(told);
      const timed = withTime(record, answer.info);
      const at = told === undefined ? undefined : dateSeconds(timed.timestamp);
      const pair = at === undefined ? undefined : this.#pairOf(record, at, now);
      if (at === undefined || pair === undefined) {
        note('record', `${group}.${at === undefined ? 'timestamp' : 'filer_guid'}`);
        continue;
      }
      oldest = Math.min(oldest, at);
      newest = Math.max(newest, at);
      const isFresh = memory.admit(pairKey(pair.filer, pair.volume), identityOf(record, told ?? at), at);
      if (isFresh) fresh += 1;
      const dated = { at, record: this.#capped(timed, note) };
      toSamples(eventTables[group], [record], {}, note);
      if (group === 'locks') pair.takeLock(dated, isFresh);
      else pair.takePropagation(dated, isFresh);
    }
    const bookmark = dateSeconds(answer.info[bookmarks[group]]);
    memory.answered(oldest, newest, bookmark);
    // The bookmark of a group that is switched off is not compared.
    if (this.#settings.groups.includes(group)) this.#watches[group].answered(bookmark, times, isAfterLoss);
    return fresh;
  }

  #capped(record: Fields, note: NoteDrop): Fields {
    let capped = record;
    for (const [field, cap] of Object.entries(this.#caps)) {
      const value = record[field];
      if (value === undefined || value === null) continue;
      const word = wordOf(value);
      const kept = cap.admit(word);
      if (kept !== value) capped = { ...capped, [field]: kept };
      if (kept !== word) note('label', field);
    }
    return capped;
  }

  #pairOf(record: Fields, at: number, now: number): Pair | undefined {
    const filer = text(record.filer_guid);
    if (filer === '') return undefined;
    const volume = text(record.volume_guid);
    const key = pairKey(filer, volume);
    if (!this.#pairs.has(key) && this.#pairs.size >= this.#mostPairs) return undefined;
    this.#filers.see(filer, record.filer_title, at, now);
    if (volume !== '') this.#volumes.see(volume, record.volume_title, at, now);
    const pair = this.#pairs.get(key) ?? new Pair(filer, volume, this.#settings.histograms);
    this.#pairs.set(key, pair);
    return pair;
  }

  /**
   * Removes filers and volumes that no answer has named for too long, with their counts. An answer without any record
   * of a filer does not show which exist: it may contain only what is new.
   */
  #retire({ info, groups }: DataAnswer, now: number): void {
    const before = now - this.#settings.goneAfterMs;
    if (Array.isArray(info.volumes)) for (const guid of info.volumes) this.#volumes.confirm(text(guid), now);
    const forgotten = now - (this.#settings.forgetAfterMs ?? DAY_MS);
    if (groups.filers.length > 0) this.#namedAt = now;
    if (this.#settings.groups.includes('filers') && groups.filers.length > 0) this.#filers.retire(forgotten);
    this.#volumes.retire(forgotten);
    this.#retireStates(before);
    for (const [key, pair] of this.#pairs) {
      if (this.#filers.has(pair.filer) && (pair.volume === '' || this.#volumes.has(pair.volume))) continue;
      this.#pairs.delete(key);
      for (const memory of Object.values(this.#memories)) memory.drop(key);
    }
  }

  /**
   * Whether to expose the current state of a filer on a volume: only if the answers name both. Counts are exposed
   * either way. Answers without any filer do not show which exist.
   */
  #isNamed({ filer, volume }: Pair): boolean {
    const { goneAfterMs } = this.#settings;
    const isNamed = this.#filers.isNamedSince(filer, this.#namedAt - goneAfterMs);
    return isNamed && (volume === '' || this.#volumes.isNamedSince(volume, (this.#answeredAt ?? 0) - goneAfterMs));
  }

  /** Removes states that no answer has confirmed since `before`; counts stay. */
  #retireStates(before: number): void {
    for (const [guid, { confirmedAt }] of this.#volumeStates) {
      if (!this.#volumes.has(guid) || confirmedAt < before) this.#volumeStates.delete(guid);
    }
    for (const pair of this.#pairs.values()) pair.retire(before);
  }
}

/**
 * The time of a state in Unix seconds. Without a time, or with a future one, the earliest possible, so that the next
 * answer wins.
 */
function timeOf(record: Fields, { request_time }: Fields): number {
  const at = dateSeconds(record.timestamp) ?? Number.NEGATIVE_INFINITY;
  return at <= (dateSeconds(request_time) ?? Number.POSITIVE_INFINITY) ? at : Number.NEGATIVE_INFINITY;
}

/** A record for the families that hold ages, with the answer's time if it has none of its own or a later one. */
function withTime(record: Fields, { request_time }: Fields): Fields {
  const at = dateSeconds(record.timestamp);
  const answered = dateSeconds(request_time);
  if (answered === undefined || (at !== undefined && at <= answered)) return record;
  return { ...record, timestamp: request_time };
}

/** The first value of a ledger's state: everything but the pairs. */
export interface LedgerHeading {
  readonly info: Fields;
  /** Of the latest answer; null without one. */
  readonly ageMs: number | null;
  readonly filers: DirectoryState;
  /** The name of each filer; missing in state files of earlier versions. */
  readonly called?: readonly (readonly [guid: string, name: string])[];
  readonly volumes: DirectoryState;
  readonly volumeStates: readonly (readonly [guid: string, dated: DatedState, ageMs: number])[];
  readonly words: Readonly<Record<string, readonly string[]>>;
  readonly memories: Readonly<Record<(typeof EVENT_GROUPS)[number], EventMemoryState>>;
  readonly bookmarks: Readonly<Record<(typeof EVENT_GROUPS)[number], BookmarkState>>;
}

/** Each further value: a pair, and its remembered events. */
export interface PairLine {
  readonly pair: PairState;
  readonly locks: PairMemoryState;
  readonly propagation: PairMemoryState;
}

function pairKey(filer: string, volume: string): string {
  return `${filer}\n${volume}`;
}

/** The identity of an event besides filer and volume (interface.md, section 4): equal events count once. */
function identityOf(record: Fields, at: number): string {
  const { kind, prop_seconds, lock_phase, lock_state, lock_duration } = record;
  return [at, kind, prop_seconds, lock_phase, lock_state, lock_duration].map(text).join('\n');
}
