import type { Config } from '../config/config.ts';
import type { ServiceSection } from '../config/section.ts';
import type { Kept } from '../contract/kept.ts';
import type { ApplianceFamilies, Collector, Task } from '../contract/task.ts';
import type { ServiceCheck } from '../doctor/service-check.ts';
import type { Table } from '../metrics/family.ts';
import type { Sample } from '../metrics/samples.ts';
import type { FleetPlan, SampleCounts } from '../planning/plan.ts';
import type { Clock } from '../runtime/clock.ts';
import type { Log } from '../runtime/log.ts';
import type { Random } from '../runtime/random.ts';
import type { StateKeeper } from '../state/keeper.ts';
import type { ServiceDetails } from '../status/model.ts';
import type { AllowedRequest } from '../transport/allowed-request.ts';
import type { Exchange, JsonClient } from '../transport/json-client.ts';
import type { RateLimit } from '../transport/rate/rate-limiter.ts';
import type { FilerNames } from './filer-names.ts';

/** One service, as the rest of the program sees it. `services/services.ts` lists them. */
export interface Service<Settings = unknown> {
  readonly section: ServiceSection<Settings>;
  readonly title: string;
  /** Its families, in the order of the exposition. */
  readonly tables: readonly Table[];
  /** Allowed requests besides GET. */
  readonly allowed?: readonly AllowedRequest[];
  /** It answers about the whole account at once, so only the first shard polls it. */
  readonly firstShardOnly?: true;
  /** It has the names of filers, which others wait for briefly. */
  readonly namesFilers?: true;
  target(settings: Settings, config: Config): ServiceEndpoint;
  /** The owner of its saved state: a process with other values does not restore it. */
  stateOwner(settings: Settings, config: Config): readonly string[];
  connect(settings: Settings, parts: ServiceDependencies): ServiceConnection;
  createDoctorCheck?(settings: Settings, parts: DoctorCheckDependencies): ServiceCheck;
  /** How often it has points of the past, how far back, and how long a bin is; missing without history. */
  points?(settings: Settings): { readonly intervalMs: number; readonly lookbackMs: number; readonly binMs: number };
  /** For a process that reads the history of these series, or of all polled ones; missing without history. */
  past?(
    settings: Settings,
    series: readonly string[] | undefined,
  ): { readonly settings: Settings; readonly binMs: number };
  /** The settings of a process beside a running exporter, which must not take its events. `now`: epoch milliseconds. */
  withOwnClientKey?(settings: Settings, now: number): Settings;
  /** Its part of `--plan`, if its requests grow with the fleet. */
  readonly planning?: FleetPlanner<Settings>;
  size?(settings: Settings): readonly SampleCounts[];
}

export interface FleetPlanner<Settings> {
  /** Variables to plan with if the service is not configured. */
  readonly placeholder: Readonly<Record<string, string>>;
  forFleet(settings: Settings, appliances: number, shards: number): FleetPlan;
}

export interface ServiceEndpoint {
  readonly baseUrl: string;
  readonly limit: RateLimit;
  readonly dailyLimit: number | undefined;
  /** The highest rate, in requests a millisecond. */
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
  /** Saves its counts over restarts; undefined without a state file. */
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
  /** The families of each appliance's state; undefined if no appliance is polled. */
  readonly appliances?: ApplianceFamilies | undefined;
  /** Called after each change of the inventory, with the number of tasks of each operation. */
  readonly onTasks?: (tasks: ReadonlyMap<string, number>) => void;
  /** Reads the inventory, if there is one, and returns the number of appliances. */
  readonly countAppliances?: (signal: AbortSignal) => Promise<number>;
  /** Revokes the token. */
  readonly close?: (signal: AbortSignal) => Promise<unknown>;
  /** What it keeps over restarts. */
  readonly kept?: readonly Kept[];
  /** Each of its polls saves the state; one service does so. */
  readonly savesAfterPolls?: true;
  readonly restoredResult?: () => RestoredResult | undefined;
}

/** What can be exposed of a restored state before the first poll, and the time of its answer, in monotonic milliseconds. */
export interface RestoredResult {
  readonly task: Task;
  readonly samples: Iterable<Sample>;
  readonly answeredAt: number;
}
