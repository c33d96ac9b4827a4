import type { Config } from '../config/config.ts';
import type { ServiceSection } from '../config/table.ts';
import type { ServiceCauses } from '../contract/causes.ts';
import type { SavedPart, SaveSoon } from '../contract/saved-part.ts';
import type { InventoryDetails, OwnMetric, ServiceDetails } from '../contract/service-details.ts';
import type { ApplianceFamilies, Collector, Task } from '../contract/task.ts';
import type { ServiceCheck } from '../doctor/service-check.ts';
import type { Table } from '../metrics/family.ts';
import type { Sample } from '../metrics/samples.ts';
import type { Clock } from '../runtime/clock.ts';
import type { Log } from '../runtime/log.ts';
import type { AllowedRequest, Exchange, JsonClient } from '../transport/json-client.ts';
import type { LimitSettings } from '../transport/rate/limits.ts';
import type { RateLimit } from '../transport/rate/rate-limiter.ts';
import type { FilerNames } from './filer-names.ts';

/**
 * One service, as the rest of the program sees it: what every service has, and capabilities that a service has or lacks.
 * `services/services.ts` lists the services.
 */
export interface Service<Settings = unknown> {
  readonly section: ServiceSection<Settings>;
  readonly title: string;
  readonly causes: ServiceCauses;
  /** The tables of metrics of the service, in the order of the exposition. */
  readonly tables: readonly Table[];
  /** The metrics about the exporter that only this service has. Its connection has their values. */
  readonly ownMetrics?: readonly OwnMetric[];
  /** The requests that are allowed in addition to GET. */
  readonly allowed?: readonly AllowedRequest[];
  target(settings: Settings): ServiceEndpoint;
  /** Identifies the owner of the saved state, without secrets: a process with another owner does not restore it. */
  stateOwner(settings: Settings): readonly string[];
  connect(settings: Settings, dependencies: ServiceDependencies): ServiceConnection;
  /**
   * Returns settings for a process that runs in addition to an exporter and must not consume its events. `now` is in
   * epoch milliseconds.
   */
  withOwnClientKey?(settings: Settings, now: number): Settings;
  /** The checks of `--doctor`. */
  createCheck(settings: Settings, dependencies: DoctorCheckDependencies): ServiceCheck;
  /** Missing if the number of requests does not grow with the fleet. */
  readonly planning?: ServicePlanning<Settings>;
  /**
   * How far back a usual request reaches, and the length of a bin, in milliseconds. Missing if the service has no records
   * of the past, for remote write.
   */
  historyBins?(settings: Settings): { readonly lookbackMs: number; readonly binMs: number };
}

export interface ServiceEndpoint extends LimitSettings {
  readonly baseUrl: string;
}

/** What the program gives to the connection of a service. */
interface ServiceDependencies {
  readonly client: JsonClient;
  readonly config: Config;
  readonly clock: Clock;
  readonly log: Log;
  readonly heapBytes: number;
  readonly names: FilerNames;
  /** Undefined without a state file. */
  readonly saveSoon: SaveSoon | undefined;
}

interface ServiceConnection extends ServiceDetails {
  readonly collector: Collector;
  readonly intervalMs: number;
  readonly inventory?: Inventory;
  /** What the service keeps over restarts; missing if that is nothing but its daily quota. */
  readonly savedPart?: SavedPart;
  /** What a restored state can expose before the first poll. */
  readonly restoredResult?: () => RestoredResult | undefined;
  /** Signs in again, because rights may belong to the sign-in; never rejects. Missing if the service has no sign-in. */
  readonly renewAuthorization?: (signal: AbortSignal) => Promise<void>;
  /** Revokes the token. */
  readonly close?: (signal: AbortSignal) => Promise<unknown>;
}

/** The list of appliances that a service has, and what follows when it changes. */
interface Inventory extends InventoryDetails {
  /** The families of each appliance's state; undefined if no appliance is polled. */
  readonly families: ApplianceFamilies | undefined;
  /** Reads the inventory now, and resolves with the number of appliances. */
  count(signal: AbortSignal): Promise<number>;
}

export interface RestoredResult {
  readonly task: Task;
  readonly samples: Iterable<Sample>;
  /** When the response arrived, in monotonic milliseconds. */
  readonly respondedAt: number;
}

/** What the program gives to the checks of `--doctor`. */
export interface DoctorCheckDependencies {
  readonly client: JsonClient;
  readonly config: Config;
  readonly environment: { readonly clock: Clock; readonly log: Log };
  readonly exchanges: readonly Exchange[];
}

/** What `--plan` needs to know. */
interface ServicePlanning<Settings> {
  /** Variables to plan with if the service is not configured. */
  readonly placeholder: Readonly<Record<string, string>>;
  demand(settings: Settings, appliances: number): FleetDemand;
}

export interface FleetDemand {
  readonly intervalMs: number;
  /** The number of series of each appliance. */
  readonly series: number;
  readonly requests: readonly {
    readonly label: string;
    readonly requests: number;
    readonly intervalMs: number;
    /** Whether the requests have priority, so that the limits do not lengthen their interval. */
    readonly hasPriority?: boolean;
    /** A text that is shown instead of the number. */
    readonly note?: string;
  }[];
  readonly limit: RateLimit;
  readonly dailyLimit: number | undefined;
}
