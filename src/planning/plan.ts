import { formatDuration } from '../config/duration.ts';
import type { Sample } from '../metrics/samples.ts';
import { stretch, worstAgeMs } from '../polling/demand.ts';

/** What is asked of an account, and what it allows. */
export interface Demand {
  readonly appliances: number;
  readonly series: readonly { readonly name: string; readonly intervalMs: number }[];
  /** What is asked beside series and inventory: requests in a round, and the time between two rounds. */
  readonly further: readonly { readonly requests: number; readonly intervalMs: number }[];
  /** The variables that would change it. */
  readonly variables: DemandVariables;
  /** The interval that is asked for, in milliseconds. */
  readonly intervalMs: number;
  readonly discoveryIntervalMs: number;
  readonly limit: { readonly requests: number; readonly windowMs: number };
  /** Requests in 24 hours; undefined for none. */
  readonly dailyLimit: number | undefined;
  /** Requests per second that both limits together allow for good. */
  readonly allowedPerSecond: number;
}

/** What the operator sets to ask for more or less. */
export interface DemandVariables {
  readonly interval: string;
  readonly series: string;
  readonly appliances: string;
}

/** What the limits make of a demand. */
export interface Plan {
  readonly variables: DemandVariables;
  readonly requestsPerSweep: number;
  readonly requestsPerDay: number;
  readonly requestsPerSecond: number;
  /** Of the burst limit and of the day's; above 1 when it does not fit. The latter undefined without a daily limit. */
  readonly burstShare: number;
  readonly dayShare: number | undefined;
  /** The interval as the limits allow it. */
  readonly effectiveIntervalMs: number;
  /** How long a whole round takes at the pace allowed. */
  readonly sweepMs: number;
  readonly worstAgeMs: number;
  readonly fits: boolean;
  /** What would make it fit; empty when it does. */
  readonly advice: readonly string[];
}

/**
 * Samples that something switched on comes to: for the account, for each appliance, and for each volume on each appliance,
 * with what a histogram takes apart. From the answers of the stand-in; a test holds the sum within a fifth of what an
 * exporter serves.
 */
export interface SampleShare {
  readonly account?: number;
  readonly appliance?: number;
  readonly volume?: number;
  /** Histograms for each volume on each appliance. */
  readonly histograms?: number;
}

/** The plan for a fleet, and what else there is to say of it. */
export interface FleetPlan {
  readonly plan: Plan;
  readonly appliances: number;
  readonly limit: { readonly requests: number; readonly windowMs: number };
  readonly dailyLimit: number | undefined;
  readonly intervalMs: number;
  /** What is asked for: a label, and the text beside it. */
  readonly asked: readonly (readonly [label: string, text: string])[];
  /** The same fleet asked otherwise, in columns of which the first has the labels; none where there is no other way. */
  readonly ways: readonly (readonly string[])[];
  /** What one appliance would give, for an estimate of its size. */
  samples(index: number, random: () => number): Iterable<Sample>;
}

const DAY_MS = 86_400_000;

/** An inventory round reads two lists of serials and one of edges. */
const REQUESTS_PER_DISCOVERY = 3;

/** What is feasible: a fleet's requests against the limits of its account. */
export function planFor(demand: Demand): Plan {
  const { appliances, series, intervalMs, limit, dailyLimit, allowedPerSecond } = demand;
  const perAppliance = series.reduce((sum, one) => sum + 1 / one.intervalMs, 0);
  const further = demand.further.reduce((sum, one) => sum + one.requests / one.intervalMs, 0);
  const perMs = appliances * perAppliance + REQUESTS_PER_DISCOVERY / demand.discoveryIntervalMs + further;
  const stretched = stretch(perMs * 1000, allowedPerSecond);
  const fits = stretched === 1;
  return {
    variables: demand.variables,
    requestsPerSweep: appliances * series.length,
    requestsPerDay: perMs * DAY_MS,
    requestsPerSecond: perMs * 1000,
    burstShare: (perMs * limit.windowMs) / limit.requests,
    dayShare: dailyLimit === undefined ? undefined : (perMs * DAY_MS) / dailyLimit,
    effectiveIntervalMs: intervalMs * stretched,
    sweepMs: ((appliances * series.length) / allowedPerSecond) * 1000,
    worstAgeMs: worstAgeMs(intervalMs, stretched),
    fits,
    advice: fits ? [] : advise(demand, stretched),
  };
}

function advise({ variables, series, intervalMs, appliances, allowedPerSecond }: Demand, stretched: number): string[] {
  const minutes = Math.ceil((intervalMs * stretched) / 60_000);
  const fewer = Math.floor(series.length / stretched);
  const instances = Math.floor(appliances / stretched);
  return [
    `a longer ${variables.interval}: ${minutes}m`,
    ...(fewer > 0
      ? [`fewer series in ${variables.series}: ${fewer} instead of ${series.length}, or longer intervals for some`]
      : []),
    `a higher share of the account’s limits than ${allowedPerSecond.toFixed(2)} requests a second`,
    ...(instances > 0 ? [`fewer appliances in ${variables.appliances}: ${instances} instead of ${appliances}`] : []),
  ];
}

/** A duration in whole seconds, for people. */
export function roundDuration(ms: number): string {
  return formatDuration(Math.max(1_000, Math.round(ms / 1_000) * 1_000));
}

/** A whole number, for people. */
export function wholeNumber(value: number): string {
  return Math.round(value).toLocaleString('en');
}
