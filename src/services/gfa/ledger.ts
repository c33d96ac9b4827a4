import type { JsonObject } from '../../metrics/family.ts';
import { labelValue, type ReportDrop, type Sample, toSamples } from '../../metrics/samples.ts';
import { type Clock, nextTurn } from '../../runtime/clock.ts';
import { getOrCreate } from '../../runtime/maps.ts';
import { type SavedIds, SeenIds } from '../../runtime/seen-ids.ts';
import { ServiceClock } from '../../transport/service-clock.ts';
import type { FilerNames } from '../filer-names.ts';
import type { DataResponse } from './data-response.ts';
import { identityOf, readEvent } from './event.ts';
import { type EventGroup, GROUPS, type Group, infoTable, lastCheckin, type StateGroup } from './families.ts';
import { FilerVolume, type SavedStatistic } from './filer-volume.ts';
import { type Arrival, guidOf, type StateRecord, toInfo, toStateRecord } from './state-record.ts';
import { type SavedTitle, Titles } from './titles.ts';

/**
 * How long an event is remembered after its last delivery. It is not documented whether the service sends only new events,
 * overlapping windows, or everything each time. An event that first arrives so long after its own time is not counted,
 * because it may have been counted and forgotten.
 */
const EVENTS_KEPT_MS = 86_400_000;

/** So many records are read in one turn of the event loop, which takes some 5 ms. */
const RECORDS_PER_TURN = 500;

export interface GfaLedgerOptions {
  readonly bounds: readonly number[];
  readonly maxEvents: number;
  /** The most filers on volumes, with filers alone and volumes alone. Beyond that, records are reported and skipped. */
  readonly maxPairs: number;
  /** How long a state stays without a response that contains it, in milliseconds. */
  readonly staleAfterMs: number;
  /** How long the newest events stay without a response that names their filer or volume, in milliseconds. */
  readonly goneAfterMs: number;
  /** How long counts stay without such a response, in milliseconds. */
  readonly forgetAfterMs: number;
  readonly names: FilerNames;
  /** The service's clock by the headers of its responses. It serves until `request_time` was read often enough. */
  readonly serviceClock: Pick<Clock, 'now' | 'monotonic'>;
}

/** What is saved of a ledger. Counters and histograms are not: they start at 0, so that only their labels are known. */
export interface SavedLedger {
  /** In monotonic milliseconds of the process that saved, as all times here except those in records and events. */
  readonly respondedAt: number | null;
  readonly info: JsonObject;
  readonly filers: readonly SavedTitle[];
  readonly volumes: readonly SavedTitle[];
  /** By guid: the name under which each filer was exposed. */
  readonly names: readonly (readonly [guid: string, name: string])[];
  readonly pairs: readonly SavedPair[];
  readonly events: readonly SavedIds[];
}

type SavedPair = readonly [
  filer: string,
  volume: string,
  state: Omit<StateRecord, 'response'> | null,
  statistics: readonly SavedStatistic[],
];

/**
 * The current state of filers and volumes, from the newest response with a record of each, and counts with each event
 * once. A response may contain everything, or only what is new since the last one.
 */
export class GfaLedger {
  /** Monotonic milliseconds of the latest response; undefined before the first. */
  respondedAt: number | undefined;
  readonly filers = new Titles();
  readonly #volumes = new Titles();
  readonly #options: GfaLedgerOptions;
  /** The filers on volumes, the filers alone, and the volumes alone. */
  readonly #pairs = new Map<string, FilerVolume>();
  readonly #memory: SeenIds;
  /** By guid: the names of filers before the restart. */
  #previousNames: ReadonlyMap<string, string> = new Map();
  #info: JsonObject = {};
  /**
   * Monotonic milliseconds of the latest response that lists filers, and of the latest that lists volumes. Other responses
   * contain only what is new, so they do not show that a filer or a volume is gone.
   */
  #listedAt = { filers: Number.NEGATIVE_INFINITY, volumes: Number.NEGATIVE_INFINITY };
  /** The service's clock as `request_time` shows it: the times in the records are those of the same clock. */
  readonly #clock: ServiceClock;
  #responses = 0;

  constructor(options: GfaLedgerOptions) {
    this.#options = options;
    this.#clock = new ServiceClock(options.serviceClock);
    this.#memory = new SeenIds(options.maxEvents, EVENTS_KEPT_MS);
  }

  get memory(): { readonly size: number; readonly evicted: number; readonly limit: number } {
    const { size, evicted } = this.#memory;
    return { size, evicted, limit: this.#options.maxEvents };
  }

  get account(): string {
    return labelValue(this.#info.account);
  }

  /** Adds a response, and returns the number of new events. `now`: monotonic milliseconds. */
  async add(response: DataResponse, now: number, reportDrop: ReportDrop): Promise<number> {
    this.#responses += 1;
    const time = this.#clock.timeOf(response.at && response.at * 1000) / 1000;
    const arrival = { response: this.#responses, time };
    this.respondedAt = now;
    this.#info = toInfo(response.info, time);
    toSamples(infoTable, [response.info], {}, reportDrop);
    let [records, newEvents] = [0, 0];
    this.#memory.begin(now);
    for (const group of GROUPS) {
      for (const record of response.groups[group]) {
        if (group === 'filers' || group === 'volumes') this.#addState(group, record, arrival, now, reportDrop);
        else if (this.#addEvent(group, record, arrival, now, reportDrop)) newEvents += 1;
        records += 1;
        if (records % RECORDS_PER_TURN === 0) await nextTurn();
      }
    }
    this.#memory.forget();
    this.#removeGone(response, now);
    return newEvents;
  }

  *samples(): Generator<Sample> {
    if (this.respondedAt === undefined) return;
    yield* toSamples(infoTable, [this.#info], {});
    const checkins = new Map<string, number>();
    for (const pair of this.#pairs.values()) {
      const { filer, volume, checkin } = pair;
      yield* pair.samples({
        filer_guid: filer,
        filer: filer === '' ? '' : this.#nameOf(filer),
        volume_guid: volume,
        volume: this.#volumes.titleOf(volume),
      });
      if (checkin !== undefined) checkins.set(filer, Math.max(checkin, checkins.get(filer) ?? checkin));
    }
    for (const [guid, value] of checkins) {
      yield { name: lastCheckin.name, labels: { filer_guid: guid, filer: this.#nameOf(guid) }, value };
    }
  }

  save(): SavedLedger {
    return {
      respondedAt: this.respondedAt ?? null,
      info: this.#info,
      filers: this.filers.save(),
      volumes: this.#volumes.save(),
      names: Array.from(this.filers.titles(), ([guid]) => [guid, this.#nameOf(guid)]),
      pairs: Array.from(this.#pairs.values(), (pair) => [pair.filer, pair.volume, pair.state ?? null, pair.save()]),
      events: this.#memory.save(),
    };
  }

  /** Restores into a ledger that has received no response. `now`: monotonic milliseconds. */
  restore(saved: SavedLedger, shiftMs: number, now: number): void {
    const { respondedAt } = saved;
    this.respondedAt = respondedAt === null ? undefined : respondedAt + shiftMs;
    this.#info = saved.info;
    this.filers.restore(saved.filers, shiftMs);
    this.#volumes.restore(saved.volumes, shiftMs);
    this.#previousNames = new Map(saved.names);
    for (const [filer, volume, state, statistics] of saved.pairs) {
      const pair = this.#pairOf(filer, volume);
      if (pair === undefined) continue;
      if (state !== null) pair.state = { ...state, response: 0, confirmedAt: state.confirmedAt + shiftMs };
      pair.restore(statistics);
      pair.removeStateBefore(now - this.#options.staleAfterMs);
    }
    this.#memory.restore(saved.events, shiftMs, this.respondedAt ?? now);
  }

  #addState(group: StateGroup, received: JsonObject, arrival: Arrival, now: number, reportDrop: ReportDrop): void {
    const place = group === 'volumes' ? 'volumes.volume_guid' : 'filers.filer_guid';
    const pair = this.#namedPair(group, received, now);
    if (pair === undefined) {
      reportDrop('record', place);
      return;
    }
    const state = toStateRecord(received, arrival, now);
    toSamples(pair.table, [state.record], {}, reportDrop);
    if (pair.state?.response === arrival.response) reportDrop('duplicate', place);
    pair.setState(state);
  }

  /** Returns whether the event is counted. It may be the newest one of its kind all the same. */
  #addEvent(group: EventGroup, record: JsonObject, arrival: Arrival, now: number, reportDrop: ReportDrop): boolean {
    const event = readEvent(group, record, arrival, reportDrop);
    const pair = event && this.#namedPair(group, record, now);
    if (event === undefined || pair === undefined) {
      reportDrop('record', `${group}.${event === undefined ? 'timestamp' : 'filer_guid'}`);
      return false;
    }
    const aheadMs = (event.reportedAt - arrival.time) * 1000;
    const identity = [group, pair.filer, pair.volume, identityOf(event, record)].join('\n');
    const delivery = this.#memory.deliver(identity, aheadMs, aheadMs < -EVENTS_KEPT_MS);
    if (delivery === 'known') return false;
    const isNew = delivery === 'unknown';
    if (!isNew) reportDrop(delivery, `${group}.timestamp`);
    pair.addEvent(group, event, isNew, arrival.time, reportDrop);
    return isNew;
  }

  /** What a record of a group is about; undefined if it does not name that, or if the maximum is reached. */
  #namedPair(group: Group, record: JsonObject, now: number): FilerVolume | undefined {
    const filer = group === 'volumes' ? '' : guidOf(record.filer_guid);
    const volume = guidOf(record.volume_guid);
    if ((group === 'volumes' ? volume : filer) === '') return undefined;
    const pair = this.#pairOf(filer, volume);
    if (pair === undefined) return undefined;
    const isState = group === 'volumes' || group === 'filers';
    this.filers.see(filer, record.filer_title, isState, now);
    this.#volumes.see(volume, record.volume_title, isState, now);
    return pair;
  }

  /** The pair, created if missing; undefined if the maximum is reached. */
  #pairOf(filer: string, volume: string): FilerVolume | undefined {
    const key = `${filer}\n${volume}`;
    if (!this.#pairs.has(key) && this.#pairs.size >= this.#options.maxPairs) return undefined;
    return getOrCreate(this.#pairs, key, () => new FilerVolume(filer, volume, this.#options.bounds));
  }

  /** Until the inventory has been read, a filer keeps its name from before the restart. */
  #nameOf(guid: string): string {
    const { names } = this.#options;
    const name = names.filerName(guid, this.filers.titleOf(guid));
    return names.isInventoryRead ? name : (this.#previousNames.get(guid) ?? name);
  }

  /** Removes states that are not confirmed, the newest events of filers and volumes that are gone, and later their counts. */
  #removeGone({ info, groups }: DataResponse, now: number): void {
    const { staleAfterMs, goneAfterMs, forgetAfterMs } = this.#options;
    const { filers: listedFilers } = groups;
    if (listedFilers.length > 0) this.#listedAt.filers = now;
    if (Array.isArray(info.volumes)) {
      this.#listedAt.volumes = now;
      for (const guid of info.volumes) this.#volumes.confirm(guidOf(guid), now);
    }
    const { filers, volumes } = this.#listedAt;
    this.filers.removeBefore(filers - forgetAfterMs);
    this.#volumes.removeBefore(volumes - forgetAfterMs);
    for (const [key, pair] of this.#pairs) {
      pair.removeStateBefore(now - staleAfterMs);
      const isGone =
        this.filers.isMissingSince(pair.filer, filers - goneAfterMs) ||
        this.#volumes.isMissingSince(pair.volume, volumes - goneAfterMs);
      if (isGone) pair.removeEvents();
      if (!this.filers.has(pair.filer) || !this.#volumes.has(pair.volume)) this.#pairs.delete(key);
    }
  }
}
