import { EventMemory } from '../../metrics/event-memory.ts';
import type { JsonObject } from '../../metrics/family.ts';
import { labelValue, type ReportDrop, type Sample, toSamples } from '../../metrics/samples.ts';
import type { Clock } from '../../runtime/clock.ts';
import { getOrCreate } from '../../runtime/maps.ts';
import { ServiceClock } from '../../transport/service-clock.ts';
import type { FilerNames } from '../filer-names.ts';
import { isKeyShared } from './bookmark-watch.ts';
import {
  type Arrival,
  type Current,
  confirmed,
  currentFrom,
  datedIn,
  infoIn,
  type SavedCurrent,
  savedCurrent,
} from './dated.ts';
import { Directory, type SavedEntry } from './directory.ts';
import { EVENTS_COUNT_FOR_SECONDS, Events, memoryKey, timeOfIdentity } from './events.ts';
import { FilerVolume, pairKey, type SavedPair } from './filer-volume.ts';
import { LabelWords } from './label-words.ts';
import type { DataAnswer } from './records.ts';
import {
  EVENT_GROUPS,
  type EventKind,
  filerOnVolumeTable,
  filerTable,
  type Group,
  infoTable,
  recordTimestamp,
  volumeTable,
} from './series.ts';

export interface LedgerOptions {
  readonly bounds: readonly number[];
  readonly maxEvents: number;
  /** The requested groups: the absence of any other group means nothing. */
  readonly groups: readonly Group[];
  /** The most filers on volumes, and the most volumes; further ones are noted and skipped. */
  readonly maxPairs: number;
  /** How long a current state stays without an answer that contains it, in milliseconds. */
  readonly goneAfterMs: number;
  /** How long counts and known events stay without an answer that names their filer or volume, in milliseconds. */
  readonly forgetAfterMs: number;
  readonly names: FilerNames;
  /** Counts as one response before there are enough, and for those without a `request_time`. */
  readonly serviceClock: Pick<Clock, 'now' | 'monotonic'>;
}

/**
 * The current state of filers and volumes, by the newest response with a record of each, and every event counted once. A
 * response may bring everything or only what is new since the last one.
 */
export class Ledger {
  /** Monotonic milliseconds of the latest answer; undefined before the first. */
  answeredAt: number | undefined;
  readonly filers = new Directory();
  readonly #settings: LedgerOptions;
  readonly #volumes = new Directory();
  readonly #pairs = new Map<string, FilerVolume>();
  readonly #volumeRecords = new Map<string, Current>();
  readonly #memory: EventMemory;
  readonly #events: Readonly<Record<EventKind, Events>>;
  readonly #words = new LabelWords();
  #isKeyShared = false;
  /** The names of filers in the ledger that this one continues, by guid. */
  #calledBefore: ReadonlyMap<string, string> = new Map();
  #info: JsonObject = {};
  /** The clock of the service by `request_time`, which has to agree with the times of its records. */
  readonly #clock: ServiceClock;
  #responses = 0;

  constructor(settings: LedgerOptions) {
    this.#settings = settings;
    this.#clock = new ServiceClock(settings.serviceClock);
    this.#memory = new EventMemory(settings.maxEvents);
    this.#events = { locks: new Events('locks', this.#memory), propagation: new Events('propagation', this.#memory) };
  }

  get memory(): { readonly size: number; readonly evicted: number } {
    const { size, evicted } = this.#memory;
    return { size, evicted };
  }

  get account(): string {
    return labelValue(this.#info.account);
  }

  get bookmarks(): { readonly missed: number; readonly isSuspicious: boolean } {
    const { locks, propagation } = this.#events;
    return { missed: locks.watch.missed + propagation.watch.missed, isSuspicious: this.#isKeyShared };
  }

  /** `now`: monotonic milliseconds. Yields wherever it may be interrupted; returns the number of new events. */
  *absorb(answer: DataAnswer, now: number, note: ReportDrop, isAfterLoss = false): Generator<void, number> {
    this.#responses += 1;
    const time = this.#clock.timeOf(answer.at && answer.at * 1000) / 1000;
    const arrival = { response: this.#responses, time };
    this.#info = infoIn(answer.info, time);
    this.answeredAt = now;
    toSamples(infoTable, [answer.info], {}, note);
    for (const record of answer.groups.volumes) {
      this.#takeVolume(record, arrival, now, note);
      yield;
    }
    for (const record of answer.groups.filers) {
      this.#takeFiler(record, arrival, now, note);
      yield;
    }
    let fresh = 0;
    this.#memory.begin(now);
    for (const group of EVENT_GROUPS) {
      fresh += yield* this.#events[group].take(answer, {
        words: this.#words,
        note,
        arrival,
        isAfterLoss,
        pairOf: (record) => this.#pairOf(record, false, now),
        isAsked: this.#settings.groups.includes(group),
      });
    }
    const watches = EVENT_GROUPS.map((group) => this.#events[group].watch);
    this.#isKeyShared = isKeyShared(watches, this.#isKeyShared);
    // Also by its own time, so that an event dated ahead is not forgotten while it would count as new.
    const isOver = (identity: string) => timeOfIdentity(identity) < time - EVENTS_COUNT_FOR_SECONDS;
    yield* this.#memory.forget(now - EVENTS_COUNT_FOR_SECONDS * 1000, isOver);
    this.#retire(answer, now);
    return fresh;
  }

  *samples(): Generator<Sample> {
    if (this.answeredAt === undefined) return;
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
      yield* pair.samples(labels);
    }
  }

  /** A heading, then each filer and volume, because there can be many. */
  *state(now: number): Generator<unknown> {
    const { locks, propagation } = this.#events;
    const filers = new Set([...this.#pairs.values()].map(({ filer }) => filer));
    yield {
      info: this.#info,
      ageMs: this.answeredAt === undefined ? null : now - this.answeredAt,
      filers: this.filers.state(now),
      called: [...filers].map((guid) => [guid, this.#nameOf(guid)]),
      volumes: this.#volumes.state(now),
      volumeStates: [...this.#volumeRecords].map(([guid, current]) => [guid, ...savedCurrent(current, now)]),
      words: this.#words.state(),
      bookmarks: { locks: locks.watch.state(), propagation: propagation.watch.state() },
    } satisfies Heading;
    for (const pair of this.#pairs.values()) {
      const delivered = (group: EventKind) => this.#memory.stateOf(memoryKey(group, pair), now);
      yield {
        pair: pair.state(now),
        locks: delivered('locks'),
        propagation: delivered('propagation'),
      } satisfies PairLine;
    }
  }

  /** Everything is as old as if no answer had arrived since it was saved, `elapsedMs` ago. Only for an empty ledger. */
  *restore([heading, ...lines]: readonly unknown[], elapsedMs: number, now: number): Generator<void> {
    const then = now - elapsedMs;
    const saved = heading as Heading;
    this.#info = saved.info;
    this.answeredAt = saved.ageMs === null ? undefined : then - saved.ageMs;
    this.filers.restore(saved.filers, then);
    // Missing in state files of earlier versions.
    this.#calledBefore = new Map(saved.called);
    this.#volumes.restore(saved.volumes, then);
    for (const [guid, ...current] of saved.volumeStates) this.#volumeRecords.set(guid, currentFrom(current, then));
    this.#words.restore(saved.words);
    for (const group of EVENT_GROUPS) {
      this.#events[group].watch.restore(saved.bookmarks[group]);
    }
    for (const line of lines) {
      const { pair: savedPair, ...memories } = line as PairLine;
      const pair = FilerVolume.restore(savedPair, this.#settings.bounds, then);
      this.#pairs.set(pair.key, pair);
      for (const group of EVENT_GROUPS) {
        this.#memory.restore(memoryKey(group, pair), memories[group], then);
      }
      yield;
    }
    this.#retireStates(now - this.#settings.goneAfterMs);
  }

  /** Until the inventory has been read, a filer keeps its name from before the restart. */
  #nameOf(guid: string): string {
    const { names } = this.#settings;
    const name = names.filerName(guid, this.filers.titleOf(guid));
    return names.isInventoryRead ? name : (this.#calledBefore.get(guid) ?? name);
  }

  #takeVolume(record: JsonObject, arrival: Arrival, now: number, note: ReportDrop): void {
    const guid = idOf(record.volume_guid);
    const held = this.#volumeRecords.get(guid);
    if (guid === '' || (held === undefined && this.#volumeRecords.size >= this.#settings.maxPairs)) {
      note('record', 'volumes.volume_guid');
      return;
    }
    this.#volumes.see(guid, record.volume_title, true, now);
    toSamples(volumeTable, [record], {}, note);
    const dated = datedIn(this.#words.limited(record, note), arrival);
    this.#volumeRecords.set(
      guid,
      confirmed(held, dated, now, () => note('duplicate', 'volumes.volume_guid')),
    );
  }

  #takeFiler(record: JsonObject, arrival: Arrival, now: number, note: ReportDrop): void {
    const pair = this.#pairOf(record, true, now);
    if (pair === undefined) {
      note('record', 'filers.filer_guid');
      return;
    }
    const dated = datedIn(record, arrival);
    toSamples(pair.volume === '' ? filerTable : filerOnVolumeTable, [dated.record], {}, note);
    pair.takeCurrent(dated, now, () => note('duplicate', 'filers.filer_guid'));
  }

  #pairOf(record: JsonObject, isState: boolean, now: number): FilerVolume | undefined {
    const filer = idOf(record.filer_guid);
    if (filer === '') return undefined;
    const volume = idOf(record.volume_guid);
    const key = pairKey(filer, volume);
    if (!this.#pairs.has(key) && this.#pairs.size >= this.#settings.maxPairs) return undefined;
    this.filers.see(filer, record.filer_title, isState, now);
    if (volume !== '') this.#volumes.see(volume, record.volume_title, isState, now);
    return getOrCreate(this.#pairs, key, () => new FilerVolume(filer, volume, this.#settings.bounds));
  }

  /** An answer without any record of a filer does not show which exist: it may contain only what is new. */
  #retire({ info, groups }: DataAnswer, now: number): void {
    const before = now - this.#settings.goneAfterMs;
    if (Array.isArray(info.volumes)) for (const guid of info.volumes) this.#volumes.confirm(idOf(guid), now);
    const forgotten = now - this.#settings.forgetAfterMs;
    if (this.#settings.groups.includes('filers') && groups.filers.length > 0) this.filers.retire(forgotten);
    this.#volumes.retire(forgotten);
    this.#retireStates(before);
    for (const [key, pair] of this.#pairs) {
      if (this.filers.has(pair.filer) && (pair.volume === '' || this.#volumes.has(pair.volume))) continue;
      this.#pairs.delete(key);
      for (const group of EVENT_GROUPS) this.#memory.drop(memoryKey(group, pair));
    }
  }

  #retireStates(before: number): void {
    for (const [guid, { confirmedAt }] of this.#volumeRecords) {
      if (!this.#volumes.has(guid) || confirmedAt < before) this.#volumeRecords.delete(guid);
    }
    for (const pair of this.#pairs.values()) pair.retire(before);
  }
}

function idOf(raw: unknown): string {
  return labelValue(raw).toLowerCase();
}

interface Heading {
  readonly info: JsonObject;
  readonly ageMs: number | null;
  readonly filers: readonly SavedEntry[];
  readonly volumes: readonly SavedEntry[];
  readonly volumeStates: readonly (readonly [guid: string, ...SavedCurrent])[];
  readonly called?: readonly (readonly [guid: string, name: string])[];
  readonly words: ReturnType<LabelWords['state']>;
  readonly bookmarks: Readonly<Record<EventKind, ReturnType<Events['watch']['state']>>>;
}

interface PairLine extends Readonly<Record<EventKind, ReturnType<EventMemory['stateOf']>>> {
  readonly pair: SavedPair;
}
