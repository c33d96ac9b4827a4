import type { EventMemoryState, MemoryLimits, PairMemoryState } from '../../metrics/event-memory.ts';
import { type Fields, isFields } from '../../metrics/family.ts';
import type { HistogramSettings } from '../../metrics/histogram.ts';
import { keptNumber, keptText } from '../../metrics/restored-values.ts';
import { type NoteDrop, type Sample, text, toSamples } from '../../metrics/samples.ts';
import type { FilerNames } from '../filer-names.ts';
import { type BookmarkState, isKeyShared } from './bookmark-watch.ts';
import { type Current, type CurrentState, confirmed, currentOf, stateOfCurrent, timeOf, withTime } from './dated.ts';
import { Directory, type DirectoryState } from './directory.ts';
import { EVENT_GROUPS, type EventKind, Events } from './events.ts';
import { Pair, type PairState, pairKey } from './filer-volume.ts';
import { LabelWords } from './label-words.ts';
import type { DataAnswer } from './records.ts';
import { filerOnVolumeTable, filerTable, type Group, infoTable, recordTimestamp, volumeTable } from './series.ts';

export interface LedgerSettings {
  readonly histograms: HistogramSettings;
  readonly memory: MemoryLimits;
  /** The requested groups: the absence of any other group means nothing. */
  readonly groups: readonly Group[];
  /** The most filers on volumes, and the most volumes; further ones are noted and skipped. */
  readonly mostPairs: number;
  /** How long a current state stays without an answer that contains it, in milliseconds. */
  readonly goneAfterMs: number;
  /** How long counts and known events stay without an answer that names their filer or volume, in milliseconds. */
  readonly forgetAfterMs: number;
  /** The names of filers in both services. */
  readonly names: FilerNames;
}

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
  readonly #volumeRecords = new Map<string, Current>();
  readonly #events: Readonly<Record<EventKind, Events>>;
  readonly #words = new LabelWords();
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
    this.#events = {
      locks: new Events('locks', settings.memory),
      propagation: new Events('propagation', settings.memory),
    };
  }

  /** How many events are remembered, and how many were evicted. */
  get memory(): { readonly size: number; readonly evicted: number } {
    const { locks, propagation } = this.#events;
    return {
      size: locks.memory.size + propagation.memory.size,
      evicted: locks.memory.evicted + propagation.memory.evicted,
    };
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
    const { locks, propagation } = this.#events;
    return { missed: locks.watch.missed + propagation.watch.missed, isSuspicious: this.#isKeyShared };
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
    let fresh = 0;
    for (const group of EVENT_GROUPS) {
      fresh += yield* this.#events[group].take(answer, {
        ...{ words: this.#words, note, isAfterLoss },
        pairOf: (record, at) => this.#pairOf(record, at, now),
        isAsked: this.#settings.groups.includes(group),
      });
    }
    const watches = EVENT_GROUPS.map((group) => this.#events[group].watch);
    this.#isKeyShared = isKeyShared(watches, this.#isKeyShared);
    this.#retire(answer, now);
    return fresh;
  }

  /** The titles of the known filers, by guid. */
  titles(): Iterable<readonly [guid: string, title: string]> {
    return this.#filers.titles();
  }

  /** Every sample of the ledger. Yields nothing until an answer has been absorbed. */
  *samples(): Generator<Sample> {
    if (this.#answeredAt === undefined) return;
    yield* toSamples(infoTable, [this.#info], {});
    for (const [guid, { dated }] of this.#volumeRecords) {
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
    const { locks, propagation } = this.#events;
    yield {
      info: this.#info,
      ageMs: this.#answeredAt === undefined ? null : now - this.#answeredAt,
      filers: this.#filers.state(now),
      called: [...new Set([...this.#pairs.values()].map(({ filer }) => filer))].map((guid) => [
        guid,
        this.#nameOf(guid),
      ]),
      volumes: this.#volumes.state(now),
      volumeStates: [...this.#volumeRecords].map(([guid, current]) => [guid, ...stateOfCurrent(current, now)]),
      words: this.#words.state(),
      memories: { locks: locks.memory.state(), propagation: propagation.memory.state() },
      bookmarks: { locks: locks.watch.state(), propagation: propagation.watch.state() },
    };
    for (const [key, pair] of this.#pairs) {
      yield { pair: pair.state(now), locks: locks.memory.stateOf(key), propagation: propagation.memory.stateOf(key) };
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
    for (const [guid, ...current] of saved.volumeStates)
      this.#volumeRecords.set(keptText(guid), currentOf(current, then));
    this.#words.restore(saved.words);
    for (const group of EVENT_GROUPS) {
      this.#events[group].memory.restore(saved.memories[group]);
      this.#events[group].watch.restore(saved.bookmarks[group]);
    }
    for (const line of lines as readonly PairLine[]) {
      const pair = Pair.restore(line.pair, this.#settings.histograms, then);
      this.#pairs.set(pair.key, pair);
      for (const group of EVENT_GROUPS) this.#events[group].memory.restorePair(pair.key, line[group]);
      yield;
    }
    this.#retireStates(now - this.#settings.goneAfterMs);
  }

  /** Until the inventory has been read, a filer keeps its name from before the restart. */
  #nameOf(guid: string): string {
    const { names } = this.#settings;
    const name = names.ofFiler(guid, this.#filers.titleOf(guid));
    return names.isSettled ? name : (this.#calledBefore.get(guid) ?? name);
  }

  #takeVolume(record: Fields, at: number, now: number, note: NoteDrop): void {
    const guid = text(record.volume_guid);
    const held = this.#volumeRecords.get(guid);
    if (guid === '' || (held === undefined && this.#volumeRecords.size >= this.#settings.mostPairs)) {
      note('record', 'volumes.volume_guid');
      return;
    }
    this.#volumes.see(guid, record.volume_title, at, now);
    toSamples(volumeTable, [record], {}, note);
    this.#volumeRecords.set(guid, confirmed(held, { at, record: this.#words.limited(record, note) }, now));
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

  #pairOf(record: Fields, at: number, now: number): Pair | undefined {
    const filer = text(record.filer_guid);
    if (filer === '') return undefined;
    const volume = text(record.volume_guid);
    const key = pairKey(filer, volume);
    if (!this.#pairs.has(key) && this.#pairs.size >= this.#settings.mostPairs) return undefined;
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
    const forgotten = now - this.#settings.forgetAfterMs;
    if (groups.filers.length > 0) this.#namedAt = now;
    if (this.#settings.groups.includes('filers') && groups.filers.length > 0) this.#filers.retire(forgotten);
    this.#volumes.retire(forgotten);
    this.#retireStates(before);
    for (const [key, pair] of this.#pairs) {
      if (this.#filers.has(pair.filer) && (pair.volume === '' || this.#volumes.has(pair.volume))) continue;
      this.#pairs.delete(key);
      for (const group of EVENT_GROUPS) this.#events[group].memory.drop(key);
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
    for (const [guid, { confirmedAt }] of this.#volumeRecords) {
      if (!this.#volumes.has(guid) || confirmedAt < before) this.#volumeRecords.delete(guid);
    }
    for (const pair of this.#pairs.values()) pair.retire(before);
  }
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
  readonly volumeStates: readonly (readonly [guid: string, ...CurrentState])[];
  readonly words: ReturnType<LabelWords['state']>;
  readonly memories: Readonly<Record<EventKind, EventMemoryState>>;
  readonly bookmarks: Readonly<Record<EventKind, BookmarkState>>;
}

/** Each further value: a pair, and its remembered events. */
export interface PairLine {
  readonly pair: PairState;
  readonly locks: PairMemoryState;
  readonly propagation: PairMemoryState;
}
