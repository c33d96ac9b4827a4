import type { SavedPart } from '../contract/saved-part.ts';
import type { InventoryDetails } from '../contract/service-details.ts';
import type { ApplianceFamilies, Task } from '../contract/task.ts';
import type { ServiceCheck } from '../doctor/service-check.ts';
import type { Sample } from '../metrics/samples.ts';
import type { FleetPlan, SampleCounts } from '../planning/plan.ts';
import type { DoctorCheckDependencies } from './dependencies.ts';

/** What a service has or lacks: each capability is an object of its own. */

/** The checks of `--doctor`. */
export interface ServiceDoctor<Settings> {
  createCheck(settings: Settings, dependencies: DoctorCheckDependencies): ServiceCheck;
}

/** What `--plan` computes. */
export interface ServicePlanning<Settings> {
  sampleCounts(settings: Settings): readonly SampleCounts[];
  /** Missing if the number of requests does not grow with the fleet. */
  readonly fleet?: FleetPlanner<Settings>;
}

export interface FleetPlanner<Settings> {
  /** Variables to plan with if the service is not configured. */
  readonly placeholder: Readonly<Record<string, string>>;
  plan(settings: Settings, appliances: number): FleetPlan;
}

/** Records of the past, for remote write. */
export interface ServiceHistory<Settings> {
  /** How often new records exist, how far back they are requested, and the length of a bin, in milliseconds. */
  bins(settings: Settings): HistoryBins;
}

export interface HistoryBins {
  readonly intervalMs: number;
  readonly lookbackMs: number;
  readonly binMs: number;
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
  readonly parts: readonly SavedPart[];
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
