import { inPieces } from '../../contract/kept.ts';
import type { JsonObject } from '../../metrics/family.ts';
import { boundedId } from '../../metrics/label-value.ts';
import { labelValue, type ReportDrop, type Sample, toSamples } from '../../metrics/samples.ts';
import type { Clock } from '../../runtime/clock.ts';
import { getOrCreate } from '../../runtime/maps.ts';
import { SeenIds } from '../../runtime/seen-ids.ts';
import { ServiceClock } from '../../transport/service-clock.ts';
import type { FilerNames } from '../filer-names.ts';
import { isKeyShared } from './bookmark-watch.ts';
import type { DataResponse } from './data-response.ts';
import { EVENTS_KEPT_MS, EventCounter } from './event-counter.ts';
import { EVENT_GROUPS, type EventGroup, type Group, infoTable } from './families.ts';
import { FilerVolume, pairKey } from './filer-volume.ts';
import { LabelValueLimits } from './label-value-limits.ts';
import type { Heading, Piece, SavedFiler } from './saved-ledger.ts';
import { type Arrival, believedInfo, restoreCurrent, savedCurrent, toTimedRecord } from './timed-record.ts';
import { TitleDirectory } from './title-directory.ts';

/** The groups whose records are states. */
const STATE_GROUPS = ['volumes', 'filers'] as const satisfies readonly Group[];

/** The events are a million at most, so each map has some ten thousand. */
const MEMORY_PARTS = 64;

export interface GfaLedgerOptions {
  readonly bounds: readonly number[];
  readonly maxEvents: number;
  /** The requested groups: the absence of any other group means nothing. */
  readonly groups: readonly Group[];
  /** The most filers on volumes, with filers alone and volumes alone. Beyond that, records are reported and skipped. */
  readonly maxPairs: number;
  /** How long a current state stays without a response that contains it, in milliseconds. */
  readonly goneAfterMs: number;
  /** How long counts and known events stay without a response that names their filer or volume, in milliseconds. */
  readonly forgetAfterMs: number;
  readonly names: FilerNames;
  /** The service's clock by the headers of its responses. It serves until `request_time` was read often enough. */
  readonly serviceClock: Pick<Clock, 'now' | 'monotonic'>;
}

/**
 * The current state of filers and volumes, from the newest response with a record of each, and counts with each event
 * once. A response may contain everything, or only what is new since the last one.
 */
export class GfaLedger {
  /** Monotonic milliseconds of the latest response; undefined before the first. */
  respondedAt: number | undefined;
  readonly filers: TitleDirectory;
  readonly #options: GfaLedgerOptions;
  readonly #volumes: TitleDirectory;
  /** The filers on volumes, the filers alone, and the volumes alone. */
  readonly #pairs = new Map<string, FilerVolume>();
  readonly #memory: SeenIds;
  readonly #events: Readonly<Record<EventGroup, EventCounter>>;
  readonly #valueLimits = new LabelValueLimits();
  /** What the last response has changed except titles, by the key of a pair. */
  readonly #changed = { states: new Set<string>(), counts: new Set<string>() };
  /** The JSON that was saved last for each part of the heading. */
  readonly #saved = new Map<string, string>();
  #isKeyShared = false;
  /** By guid: the names of filers before the restart. */
  readonly #previousNames = new Map<string, string>();
  #info: JsonObject = {};
  /** The service's clock by `request_time`, because the times of the records are by the same clock. */
  readonly #clock: ServiceClock;
  #responses = 0;

  constructor(options: GfaLedgerOptions) {
    this.#options = options;
    this.filers = new TitleDirectory(options.maxPairs);
    this.#volumes = new TitleDirectory(options.maxPairs);
    this.#clock = new ServiceClock(options.serviceClock);
    this.#memory = new SeenIds(options.maxEvents, EVENTS_KEPT_MS, MEMORY_PARTS);
    this.#events = {
      locks: new EventCounter('locks', this.#memory),
      propagation: new EventCounter('propagation', this.#memory),
    };
  }

  get memory(): { readonly size: number; readonly evicted: number; readonly limit: number } {
    const { size, evicted } = this.#memory;
    return { size, evicted, limit: this.#options.maxEvents };
  }

  get account(): string {
    return labelValue(this.#info.account);
  }

  get bookmarks(): { readonly missed: number; readonly isSuspicious: boolean } {
    const { locks, propagation } = this.#events;
    return { missed: locks.watch.missed + propagation.watch.missed, isSuspicious: this.#isKeyShared };
  }

  /**
   * Adds a response, and returns the number of new events. `now`: monotonic milliseconds. `isAfterLoss`: the response to an
   * earlier request did not arrive, so its events are missing. Yields where it may be interrupted.
   */
  *add(response: DataResponse, now: number, reportDrop: ReportDrop, isAfterLoss = false): Generator<void, number> {
    this.#responses += 1;
    const time = this.#clock.timeOf(response.at && response.at * 1000) / 1000;
    const arrival = { response: this.#responses, time };
    this.#info = believedInfo(response.info, time);
    this.respondedAt = now;
    this.#clearChanges();
    toSamples(infoTable, [response.info], {}, reportDrop);
    for (const group of STATE_GROUPS) {
      for (const record of response.groups[group]) {
        this.#addState(group, record, arrival, now, reportDrop);
        yield;
      }
    }
    let newEvents = 0;
    this.#memory.begin(now);
    for (const group of EVENT_GROUPS) {
      newEvents += yield* this.#events[group].add(response, {
        valueLimits: this.#valueLimits,
        reportDrop,
        arrival,
        isAfterLoss,
        pairOf: (record) => this.#pairOf(group, record, now),
        isRequested: this.#options.groups.includes(group),
      });
    }
    const watches = EVENT_GROUPS.map((group) => this.#events[group].watch);
    this.#isKeyShared = isKeyShared(watches, this.#isKeyShared);
    yield* this.#memory.forget();
    yield* this.#removeOld(response, now);
    return newEvents;
  }

  *samples(): Generator<Sample> {
    if (this.respondedAt === undefined) return;
    yield* toSamples(infoTable, [this.#info], {});
    for (const pair of this.#pairs.values()) {
      const labels = {
        filer_guid: pair.filer,
        filer: pair.filer === '' ? '' : this.#nameOf(pair.filer),
        volume_guid: pair.volume,
        volume: this.#volumes.titleOf(pair.volume),
      };
      yield* pair.samples(labels);
    }
  }

  /** What the last response changed, for the state file. A second call yields only the time of the response. */
  *changes(): Generator<Piece> {
    const { states, counts } = this.#changed;
    yield* this.#pieces(this.#heading(true), [this.filers.changed, this.#volumes.changed, states, counts]);
    yield* inPieces('events', this.#memory.takeAdded());
    this.#clearChanges();
  }

  *all(): Generator<Piece> {
    const pairs = [...this.#pairs.keys()];
    yield* this.#pieces(this.#heading(false), [this.filers.guids(), this.#volumes.guids(), pairs, pairs]);
    yield* inPieces('events', this.#memory.all());
  }

  /** The pieces of the state with these keys; an entry that was removed is null. */
  *#pieces(heading: Iterable<unknown>, [filers, volumes, states, counts]: SavedKeys): Generator<Piece> {
    yield { answeredAt: this.respondedAt ?? null };
    yield* inPieces('heading', heading);
    const parts: readonly (readonly [keyof Piece, Iterable<string>, save: (key: string) => unknown])[] = [
      ['filers', filers, (guid) => this.#savedFiler(guid)],
      ['volumes', volumes, (guid) => this.#volumes.saved(guid)],
      ['states', states, (key) => savedCurrent(this.#pairs.get(key)?.current)],
      ['counts', counts, (key) => this.#pairs.get(key)?.savedCounts() ?? null],
    ];
    for (const [name, keys, save] of parts) yield* inPieces(name, entriesOf(keys, save));
  }

  #savedFiler(guid: string): SavedFiler | null {
    const entry = this.filers.saved(guid);
    return entry && [entry, this.#nameOf(guid)];
  }

  /** Restores a piece, into a ledger that has received no response. `shiftMs` converts another process's monotonic times. */
  put(piece: Piece, shiftMs: number): void {
    if (piece.answeredAt !== undefined) {
      this.respondedAt = piece.answeredAt === null ? undefined : piece.answeredAt + shiftMs;
    }
    for (const [key, value] of piece.heading ?? []) this.#putHeading(key, value);
    for (const [guid, saved] of piece.filers ?? []) {
      const [entry, name] = saved ?? [null, ''];
      this.filers.restore(guid, entry, shiftMs);
      this.#previousNames.set(guid, name);
    }
    for (const [guid, saved] of piece.volumes ?? []) this.#volumes.restore(guid, saved, shiftMs);
    for (const [key, saved] of piece.states ?? []) {
      const pair = this.#pairWith(key);
      if (pair !== undefined) pair.current = saved === null ? undefined : restoreCurrent(saved, shiftMs);
    }
    for (const [key, saved] of piece.counts ?? []) {
      if (saved === null) this.#pairs.delete(key);
      else this.#pairWith(key)?.restoreCounts(saved);
    }
    for (const ids of piece.events ?? []) this.#memory.restore(ids, shiftMs);
  }

  /** Called after all pieces. `now`: monotonic milliseconds. */
  finishRestoring(now: number): void {
    this.#memory.finishRestoring(this.respondedAt ?? now);
    this.#removeOldStates(now - this.#options.goneAfterMs);
  }

  #clearChanges(): void {
    this.#memory.takeAdded();
    for (const changed of [this.filers.changed, this.#volumes.changed, ...Object.values(this.#changed)])
      changed.clear();
  }

  /** The heading, which is about the whole account. With `isChange` only the parts that differ from what was saved last. */
  *#heading(isChange: boolean): Generator<readonly [keyof Heading, unknown]> {
    const { volumes, ...info } = this.#info;
    const { locks, propagation } = this.#events;
    const bookmarks = { locks: locks.watch.state(), propagation: propagation.watch.state() };
    const heading: Heading = { info, volumes, bookmarks, words: this.#valueLimits.state() };
    for (const [key, value] of Object.entries(heading) as [keyof Heading, unknown][]) {
      const text = JSON.stringify(value ?? null);
      if (isChange && this.#saved.get(key) === text) continue;
      this.#saved.set(key, text);
      yield [key, value ?? null];
    }
  }

  #putHeading(key: string, value: unknown): void {
    const saved = { [key]: value } as Partial<Heading>;
    if (saved.info !== undefined) this.#info = { ...saved.info, volumes: this.#info.volumes };
    if ('volumes' in saved) this.#info = { ...this.#info, volumes: saved.volumes };
    if (saved.words !== undefined) this.#valueLimits.restore(saved.words);
    if (saved.bookmarks !== undefined) {
      for (const group of EVENT_GROUPS) this.#events[group].watch.restore(saved.bookmarks[group]);
    }
  }

  /** The state of a filer on a volume, created if missing; undefined if the maximum is reached. */
  #pairWith(key: string): FilerVolume | undefined {
    if (!this.#pairs.has(key) && this.#pairs.size >= this.#options.maxPairs) return undefined;
    const [filer = '', volume = ''] = key.split('\n');
    return getOrCreate(this.#pairs, key, () => new FilerVolume(filer, volume, this.#options.bounds));
  }

  /** Until the inventory has been read, a filer keeps its name from before the restart. */
  #nameOf(guid: string): string {
    const { names } = this.#options;
    const name = names.filerName(guid, this.filers.titleOf(guid));
    return names.isInventoryRead ? name : (this.#previousNames.get(guid) ?? name);
  }

  #addState(
    group: (typeof STATE_GROUPS)[number],
    received: JsonObject,
    arrival: Arrival,
    now: number,
    reportDrop: ReportDrop,
  ): void {
    const place = group === 'volumes' ? 'volumes.volume_guid' : 'filers.filer_guid';
    const pair = this.#pairOf(group, received, now);
    if (pair === undefined) {
      reportDrop('record', place);
      return;
    }
    const timed = toTimedRecord(this.#valueLimits.limited(received, reportDrop), arrival);
    toSamples(pair.table, [timed.record], {}, reportDrop);
    pair.setCurrent(timed, now, () => reportDrop('duplicate', place));
  }

  /** What a record of a group is about; undefined if it does not name that, or if the maximum is reached. */
  #pairOf(group: Group, record: JsonObject, now: number): FilerVolume | undefined {
    const filer = group === 'volumes' ? '' : idOf(record.filer_guid);
    const volume = idOf(record.volume_guid);
    if ((group === 'volumes' ? volume : filer) === '') return undefined;
    if (!this.filers.canSee(filer) || !this.#volumes.canSee(volume)) return undefined;
    const pair = this.#pairWith(pairKey(filer, volume));
    if (pair === undefined) return undefined;
    const isState = STATE_GROUPS.some((stateGroup) => stateGroup === group);
    this.filers.update(filer, record.filer_title, isState, now);
    this.#volumes.update(volume, record.volume_title, isState, now);
    return pair;
  }

  /** Removes what has been missing for too long. Filers are removed only after responses with filer records, because others may contain only what is new. */
  *#removeOld({ info, groups }: DataResponse, now: number): Generator<void> {
    const before = now - this.#options.goneAfterMs;
    if (Array.isArray(info.volumes)) for (const guid of info.volumes) this.#volumes.touch(idOf(guid), now);
    const forgottenBefore = now - this.#options.forgetAfterMs;
    if (this.#options.groups.includes('filers') && groups.filers.length > 0) this.filers.removeBefore(forgottenBefore);
    this.#volumes.removeBefore(forgottenBefore);
    this.#removeOldStates(before);
    const { states, counts } = this.#changed;
    for (const [key, pair] of this.#pairs) {
      yield;
      const isGone = !this.filers.has(pair.filer) || !this.#volumes.has(pair.volume);
      if (isGone) this.#pairs.delete(key);
      if (pair.hasNewState) states.add(key);
      if (isGone || pair.hasNewCounts) counts.add(key);
      pair.hasNewState = false;
      pair.hasNewCounts = false;
    }
  }

  #removeOldStates(before: number): void {
    for (const pair of this.#pairs.values()) pair.removeStateBefore(before);
  }
}

type SavedKeys = readonly [
  filers: Iterable<string>,
  volumes: Iterable<string>,
  states: Iterable<string>,
  counts: Iterable<string>,
];

function* entriesOf(keys: Iterable<string>, save: (key: string) => unknown): Generator<readonly [string, unknown]> {
  for (const key of keys) yield [key, save(key)];
}

function idOf(raw: unknown): string {
  return boundedId(labelValue(raw).toLowerCase());
}
