import type { Config } from '../config/config.ts';
import type { ServiceSection } from '../config/section.ts';
import type { ServiceCauses } from '../contract/causes.ts';
import type { Kept } from '../contract/kept.ts';
import type { OwnMetric } from '../contract/own-metric.ts';
import type { ApplianceFamilies, Collector, Task } from '../contract/task.ts';
import type { ServiceCheck } from '../doctor/service-check.ts';
import type { Table } from '../metrics/family.ts';
import type { Sample } from '../metrics/samples.ts';
import type { FleetPlan, SampleCounts } from '../planning/plan.ts';
import type { Clock } from '../runtime/clock.ts';
import type { Log } from '../runtime/log.ts';
import type { Random } from '../runtime/random.ts';
import type { StateKeeper } from '../state/keeper.ts';
import type { InventoryDetails, ServiceDetails } from '../status/model.ts';
import type { AllowedRequest } from '../transport/allowed-request.ts';
import type { Exchange, JsonClient } from '../transport/json-client.ts';
import type { RateLimit } from '../transport/rate/rate-limiter.ts';
import type { FilerNames } from './filer-names.ts';

/**
 * One service, as the rest of the program sees it: what every service has, and capabilities that a service has or lacks.
 * `services/services.ts` lists the services.
 */
export interface Service<Options = unknown> {
  readonly section: ServiceSection<Options>;
  readonly title: string;
  readonly causes: ServiceCauses;
  /** The tables of metrics of the service, in the order of the exposition. */
  readonly tables: readonly Table[];
  /** The metrics about the exporter that only this service has. Its connection has their values. */
  readonly ownMetrics?: readonly OwnMetric[];
  /** The requests that are allowed in addition to GET. */
  readonly allowed?: readonly AllowedRequest[];
  /** `account`: a response is about the whole account, so only the first shard polls it. `fleet`: the shards divide it. */
  readonly scope: 'account' | 'fleet';
  target(options: Options, config: Config): ServiceEndpoint;
  /** Identifies the owner of the saved state, without secrets: a process with another owner does not restore it. */
  stateOwner(options: Options, config: Config): readonly string[];
  connect(options: Options, dependencies: ServiceDependencies): ServiceConnection;
  /**
   * Returns options for a process that runs in addition to an exporter and must not consume its events. `now` is in
   * epoch milliseconds.
   */
  withOwnClientKey?(options: Options, now: number): Options;
  readonly doctor?: ServiceDoctor<Options>;
  readonly planning?: ServicePlanning<Options>;
  readonly history?: ServiceHistory<Options>;
}

/** The checks of `--doctor`. */
export interface ServiceDoctor<Options> {
  createCheck(options: Options, dependencies: DoctorCheckDependencies): ServiceCheck;
}

/** What `--plan` computes. */
export interface ServicePlanning<Options> {
  sampleCounts(options: Options): readonly SampleCounts[];
  /** Missing if the number of requests does not grow with the fleet. */
  readonly fleet?: FleetPlanner<Options>;
}

export interface FleetPlanner<Options> {
  /** Variables to plan with if the service is not configured. */
  readonly placeholder: Readonly<Record<string, string>>;
  plan(options: Options, appliances: number, shards: number): FleetPlan;
}

/** Records of the past, for remote write and `--backfill`. */
export interface ServiceHistory<Options> {
  /** How often new records exist, how far back they are requested, and the length of a bin, in milliseconds. */
  bins(options: Options): HistoryBins;
  /** The options of a process that reads the history of these series, or of all polled ones. */
  past(options: Options, series: readonly string[] | undefined): Options;
}

export interface HistoryBins {
  readonly intervalMs: number;
  readonly lookbackMs: number;
  readonly binMs: number;
}

export interface ServiceEndpoint {
  readonly baseUrl: string;
  readonly limit: RateLimit;
  readonly dailyLimit: number | undefined;
  /** The highest request rate, in requests per millisecond. */
  readonly maxPerMs: number;
  readonly concurrency: number;
}

export interface ServiceDependencies {
  readonly client: JsonClient;
  readonly config: Config;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  readonly heapBytes: number;
  readonly names: FilerNames;
  /** Saves what the service keeps over restarts; undefined without a state file. */
  readonly keeper: Pick<StateKeeper, 'save' | 'discard'> | undefined;
}

export interface DoctorCheckDependencies {
  readonly client: JsonClient;
  readonly config: Config;
  readonly environment: { readonly clock: Clock; readonly random: Random; readonly log: Log };
  readonly exchanges: readonly Exchange[];
}

export interface ServiceConnection extends ServiceDetails {
  readonly collector: Collector;
  readonly intervalMs: number;
  readonly inventory?: Inventory;
  /** Missing if the service keeps nothing but its daily quota. */
  readonly state?: SavedState;
  /** Revokes the token. */
  readonly close?: (signal: AbortSignal) => Promise<unknown>;
}

/** The list of appliances that a service has, and what follows when it changes. */
export interface Inventory extends InventoryDetails {
  /** The families of each appliance's state; undefined if no appliance is polled. */
  readonly families: ApplianceFamilies | undefined;
  /** Reads the inventory now, and resolves with the number of appliances. */
  count(signal: AbortSignal): Promise<number>;
}

/** What a service keeps over restarts. */
export interface SavedState {
  readonly kept: readonly Kept[];
  /** True if each poll of the service saves the state, which is true for one service. */
  readonly savesAfterPolls?: true;
  readonly restoredResult?: () => RestoredResult | undefined;
}

/**
 * What a restored state can expose before the first poll, and the monotonic time at which its response arrived, in
 * milliseconds.
 */
export interface RestoredResult {
  readonly task: Task;
  readonly samples: Iterable<Sample>;
  readonly respondedAt: number;
}
