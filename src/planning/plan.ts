import { formatDuration } from '../config/duration.ts';
import { stretch, worstAgeMs } from '../polling/sweep.ts';

/** What is asked of an account, and what it allows. */
export interface Demand {
  readonly appliances: number;
  readonly series: readonly { readonly name: string; readonly intervalMs: number }[];
  /** What is asked beside series and inventory: requests in a round, and the time between two rounds. */
  readonly further: readonly { readonly requests: number; readonly intervalMs: number }[];
  /** The interval that `PORTAL_INTERVAL` asks for, in milliseconds. */
  readonly intervalMs: number;
  readonly discoveryIntervalMs: number;
  readonly limit: { readonly requests: number; readonly windowMs: number };
  /** Requests in 24 hours; undefined for none. */
  readonly dailyLimit: number | undefined;
  /** Requests per second that both limits together allow for good. */
  readonly allowedPerSecond: number;
}

/** What the limits make of a demand. */
export interface Plan {
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

function advise({ series, intervalMs, appliances, allowedPerSecond }: Demand, stretched: number): string[] {
  const minutes = Math.ceil((intervalMs * stretched) / 60_000);
  const fewer = Math.floor(series.length / stretched);
  const instances = Math.floor(appliances / stretched);
  return [
    `a longer PORTAL_INTERVAL: ${minutes}m`,
    ...(fewer > 0
      ? [`fewer series in PORTAL_SERIES: ${fewer} instead of ${series.length}, or longer intervals for some`]
      : []),
    `a higher share of the account’s limits than ${allowedPerSecond.toFixed(2)} requests a second`,
    ...(instances > 0 ? [`fewer appliances in PORTAL_SERIALS: ${instances} instead of ${appliances}`] : []),
  ];
}

/** A duration in whole seconds, for people. */
export function roundDuration(ms: number): string {
  return formatDuration(Math.max(1_000, Math.round(ms / 1_000) * 1_000));
}
