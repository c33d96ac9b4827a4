/** What the exporter is told of the portal's limits, and that nobody may ever see exceeded. */
export interface Told {
  readonly requests: number;
  readonly windowMs: number;
  readonly aDay: number;
  /** Requests in flight at most. */
  readonly concurrency: number;
  /** The shortest life of a token, in milliseconds. */
  readonly tokenMs: number;
}

/** Less than the fleet asks for, in half a minute and in a day: the limits bind, and the interval is stretched. */
export const TIGHT: Told = { requests: 10, windowMs: 30_000, aDay: 4_000, concurrency: 4, tokenMs: 240_000 };

/** More than it asks for. */
export const ROOMY: Told = { requests: 40, windowMs: 30_000, aDay: 12_000, concurrency: 8, tokenMs: 20_000 };

/** Of everything that is polled, in milliseconds. */
export const INTERVAL_MS = 300_000;

/** For so many intervals a value that nobody confirmed may be exposed. */
export const STALE_AFTER = 3;

/** The series polled of every appliance, each with the gauge that it yields. */
export const GAUGES = {
  cpu_utilization: 'filer_appliance_cpu_utilization_ratio',
  load_average: 'filer_appliance_load_average',
} as const;

/** The names of the series polled. */
export const SERIES = Object.keys(GAUGES);

/** As many appliances there may be. */
export const FLEET = { least: 3, most: 8 } as const;

/** What there is to ask for. */
export interface Demand {
  readonly appliances: number;
  /** Of those, how many are in trouble of their own: a request of theirs may go out three times. */
  readonly troubled: number;
  /** How long tokens live. */
  readonly tokenMs: number;
}

const DAY_MS = 86_400_000;

/** The part of the day's limit that is kept back as credit. */
const CREDIT_SHARE = 0.01;

/** A token is renewed when this part of its life is over. */
const RENEWED_AFTER = 0.8;

/** The part of the limits that series have, however much goes before them. */
const LEAST_LEFT = 0.1;

/** How many requests a round takes that keep their interval, and how many wait where limits bind; counted without the exporter's help. */
function requestsARound({ appliances, troubled, tokenMs }: Demand): {
  readonly first: number;
  readonly others: number;
} {
  // Two lists of serials and one of edges; the connections; each hour three about the account; tokens.
  const first = 3 + 1 + (3 * INTERVAL_MS) / 3_600_000 + INTERVAL_MS / (RENEWED_AFTER * tokenMs);
  // The series, and each hour every edge.
  const others = SERIES.length * (appliances + 2 * troubled) + (appliances * INTERVAL_MS) / 3_600_000;
  return { first, others };
}

/** The time between two polls that the limits allow for a demand, in milliseconds: by what was told, and nothing else. */
export function allowedIntervalMs(told: Told, demand: Demand): number {
  const perMs = Math.min(told.requests / told.windowMs, ((1 - CREDIT_SHARE) * told.aDay) / DAY_MS);
  const { first, others } = requestsARound(demand);
  const allowed = INTERVAL_MS * perMs;
  return INTERVAL_MS * Math.max(1, others / Math.max(allowed - first, LEAST_LEFT * allowed));
}

/** What may come on top of intervals: time-outs of thirty seconds, probes half a minute apart, a turn in the queue; in milliseconds. */
export const SETTLING_MS = 120_000;

/** How much older a value may be than its limit: its answer may have waited a moment for what filers are called; in milliseconds. */
export const SURPLUS_MS = 10_000;
