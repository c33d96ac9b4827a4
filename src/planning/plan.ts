import { formatDuration } from '../config/duration.ts';
import { intervalFactor, maxAgeMs } from '../polling/effective-interval.ts';

export interface Demand {
  readonly appliances: number;
  readonly series: readonly { readonly name: string; readonly intervalMs: number }[];
  /**
   * The requests that are not for series: how many in a cycle, how many of these have priority, and the length of the
   * cycle.
   */
  readonly additional: readonly { readonly requests: number; readonly first: number; readonly intervalMs: number }[];
  readonly variables: { readonly interval: string; readonly series: string; readonly appliances: string };
  readonly intervalMs: number;
  readonly limit: { readonly requests: number; readonly windowMs: number };
  /** The most requests in 24 hours; undefined without a limit. */
  readonly dailyLimit: number | undefined;
  readonly allowedPerSecond: number;
}

export interface Plan {
  readonly demand: Demand;
  readonly requestsPerCycle: number;
  readonly requestsPerDay: number;
  readonly requestsPerSecond: number;
  /** The demand as a share of the burst limit and of the daily limit. The fleet does not fit if one is above 1. */
  readonly burstShare: number;
  readonly dayShare: number | undefined;
  readonly effectiveIntervalMs: number;
  readonly cycleMs: number;
  readonly maxAgeMs: number;
  readonly fits: boolean;
  readonly advice: readonly string[];
}

/**
 * The number of samples in responses of the mock services, histograms separately. A test compares the sum with a
 * running exporter.
 */
export interface SampleCounts {
  readonly account?: number;
  readonly appliance?: number;
  readonly volume?: number;
  readonly histograms?: number;
}

export interface FleetPlan {
  readonly plan: Plan;
  readonly requestRows: readonly (readonly [label: string, text: string])[];
  /** A table that compares modes for the same fleet, the labels in its first column; empty if there is one mode. */
  readonly modeTable: readonly (readonly string[])[];
}

const DAY_MS = 86_400_000;

export function planFor(demand: Demand): Plan {
  const { appliances, series, additional, intervalMs, limit, dailyLimit, allowedPerSecond } = demand;
  const perAppliance = series.reduce((sum, one) => sum + 1 / one.intervalMs, 0);
  const perMs = additional.reduce((sum, one) => sum + one.requests / one.intervalMs, appliances * perAppliance);
  const firstPerMs = additional.reduce((sum, one) => sum + one.first / one.intervalMs, 0);
  const factor = intervalFactor((perMs - firstPerMs) * 1000, allowedPerSecond, firstPerMs * 1000);
  const fits = factor === 1;
  return {
    demand,
    requestsPerCycle: appliances * series.length,
    requestsPerDay: perMs * DAY_MS,
    requestsPerSecond: perMs * 1000,
    burstShare: (perMs * limit.windowMs) / limit.requests,
    dayShare: dailyLimit === undefined ? undefined : (perMs * DAY_MS) / dailyLimit,
    effectiveIntervalMs: intervalMs * factor,
    cycleMs: ((appliances * series.length) / allowedPerSecond) * 1000,
    maxAgeMs: maxAgeMs(intervalMs, factor),
    fits,
    advice: fits ? [] : advise(demand, factor),
  };
}

function advise({ variables, series, intervalMs, appliances, allowedPerSecond }: Demand, factor: number): string[] {
  const minutes = Math.ceil((intervalMs * factor) / 60_000);
  const fewer = Math.floor(series.length / factor);
  const instances = Math.floor(appliances / factor);
  return [
    `a longer ${variables.interval}: ${minutes}m`,
    ...(fewer > 0
      ? [`fewer series in ${variables.series}: ${fewer} instead of ${series.length}, or longer intervals for some`]
      : []),
    `a higher share of the account’s limits than ${allowedPerSecond.toFixed(2)} requests a second`,
    ...(instances > 0 ? [`fewer appliances in ${variables.appliances}: ${instances} instead of ${appliances}`] : []),
  ];
}

export function roundDuration(ms: number): string {
  return formatDuration(Math.max(1_000, Math.round(ms / 1_000) * 1_000));
}

export function formatInteger(value: number): string {
  return Math.round(value).toLocaleString('en');
}
