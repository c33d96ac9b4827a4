import type { JsonObject } from '../../metrics/family.ts';
import { boundedId } from '../../metrics/label-value.ts';
import { labelValue, type ReportDrop, type Sample, toSamples } from '../../metrics/samples.ts';
import type { Clock } from '../../runtime/clock.ts';
import { getOrCreate } from '../../runtime/maps.ts';
import { type SavedIds, SeenIds } from '../../runtime/seen-ids.ts';
import { ServiceClock } from '../../transport/service-clock.ts';
import type { FilerNames } from '../filer-names.ts';
import { isKeyShared } from './bookmark-watch.ts';
import type { DataResponse } from './data-response.ts';
import { EVENTS_KEPT_MS, EventCounter } from './event-counter.ts';
import { EVENT_GROUPS, type EventGroup, type Group, infoTable } from './families.ts';
import { FilerVolume, pairKey, type SavedStatistic } from './filer-volume.ts';
import { LabelValueLimits } from './label-value-limits.ts';
import {
  type Arrival,
  believedInfo,
  restoreCurrent,
  type SavedCurrent,
  savedCurrent,
  toTimedRecord,
} from './timed-record.ts';
import { type SavedEntry, TitleDirectory } from './title-directory.ts';

/** The groups whose records are states. */
const STATE_GROUPS = ['volumes', 'filers'] as const satisfies readonly Group[];

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
    this.#memory = new SeenIds(options.maxEvents, EVENTS_KEPT_MS);
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
    this.#memory.forget();
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

  save(): SavedLedger {
    return {
      respondedAt: this.respondedAt ?? null,
      info: this.#info,
      filers: Array.from(this.filers.guids(), (guid) => [guid, this.filers.saved(guid), this.#nameOf(guid)]),
      volumes: Array.from(this.#volumes.guids(), (guid) => [guid, this.#volumes.saved(guid)]),
      pairs: Array.from(this.#pairs, ([key, pair]) => [key, savedCurrent(pair.current), pair.savedStatistics()]),
      words: this.#valueLimits.state(),
      events: this.#memory.save(),
    };
  }

  /**
   * Restores into a ledger that has received no response. `shiftMs` converts another process's monotonic times; `now` is in
   * those of this process.
   */
  restore(saved: SavedLedger, shiftMs: number, now: number): void {
    this.respondedAt = saved.respondedAt === null ? undefined : saved.respondedAt + shiftMs;
    this.#info = saved.info;
    for (const [guid, entry, name] of saved.filers) {
      this.filers.restore(guid, entry, shiftMs);
      this.#previousNames.set(guid, name);
    }
    for (const [guid, entry] of saved.volumes) this.#volumes.restore(guid, entry, shiftMs);
    for (const [key, current, statistics] of saved.pairs) {
      const pair = this.#pairWith(key);
      if (pair === undefined) continue;
      pair.current = current === null ? undefined : restoreCurrent(current, shiftMs);
      pair.restoreStatistics(statistics);
    }
    this.#valueLimits.restore(saved.words);
    this.#memory.restore(saved.events, shiftMs, this.respondedAt ?? now);
    this.#removeOldStates(now - this.#options.goneAfterMs);
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
    for (const [key, pair] of this.#pairs) {
      yield;
      if (!this.filers.has(pair.filer) || !this.#volumes.has(pair.volume)) this.#pairs.delete(key);
    }
  }

  #removeOldStates(before: number): void {
    for (const pair of this.#pairs.values()) pair.removeStateBefore(before);
  }
}

/** What is saved of a ledger. Counters and histograms are not: they start at 0, so that only their series are known. */
export interface SavedLedger {
  /** When the latest response arrived, in monotonic milliseconds of the process that saved. */
  readonly respondedAt: number | null;
  readonly info: JsonObject;
  /** `name` is the name under which the filer was exposed. */
  readonly filers: readonly (readonly [guid: string, entry: SavedEntry, name: string])[];
  readonly volumes: readonly (readonly [guid: string, entry: SavedEntry])[];
  readonly pairs: readonly (readonly [
    key: string,
    current: SavedCurrent | null,
    statistics: readonly SavedStatistic[],
  ])[];
  /** The label values that were admitted, by field. */
  readonly words: ReturnType<LabelValueLimits['state']>;
  readonly events: readonly SavedIds[];
}

function idOf(raw: unknown): string {
  return boundedId(labelValue(raw).toLowerCase());
}
