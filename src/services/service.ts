import type { Config } from '../config/config.ts';
import type { ServiceSection } from '../config/table.ts';
import type { ServiceCauses } from '../contract/causes.ts';
import type { OwnMetric } from '../contract/own-metric.ts';
import type { ServiceDetails } from '../contract/service-details.ts';
import type { Collector } from '../contract/task.ts';
import type { Table } from '../metrics/family.ts';
import type { AllowedRequest } from '../transport/allowed-request.ts';
import type { RateLimit } from '../transport/rate/rate-limiter.ts';
import type { Inventory, SavedState, ServiceDoctor, ServiceHistory, ServicePlanning } from './capabilities.ts';
import type { ServiceDependencies } from './dependencies.ts';

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
  target(settings: Settings, config: Config): ServiceEndpoint;
  /** Identifies the owner of the saved state, without secrets: a process with another owner does not restore it. */
  stateOwner(settings: Settings, config: Config): readonly string[];
  connect(settings: Settings, dependencies: ServiceDependencies): ServiceConnection;
  /**
   * Returns settings for a process that runs in addition to an exporter and must not consume its events. `now` is in
   * epoch milliseconds.
   */
  withOwnClientKey?(settings: Settings, now: number): Settings;
  readonly doctor?: ServiceDoctor<Settings>;
  readonly planning?: ServicePlanning<Settings>;
  readonly history?: ServiceHistory<Settings>;
}

export interface ServiceEndpoint {
  readonly baseUrl: string;
  readonly limit: RateLimit;
  readonly dailyLimit: number | undefined;
  /** The highest request rate, in requests per millisecond. */
  readonly maxPerMs: number;
  readonly concurrency: number;
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
