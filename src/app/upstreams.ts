import pLimit from 'p-limit';
import type { Config } from '../config/config.ts';
import { proxyFor } from '../config/no-proxy.ts';
import { formatBound } from '../exposition/format.ts';
import type { OwnMetrics } from '../exposition/own/metrics.ts';
import type { MemoryLimits } from '../metrics/event-memory.ts';
import type { Api } from '../metrics/snapshot.ts';
import type { Collector, Task } from '../metrics/task.ts';
import { planOf, shareOf } from '../planning/account.ts';
import { Feasibility } from '../planning/warning.ts';
import { Agenda } from '../polling/agenda.ts';
import { ApiHealth, type HealthSettings } from '../polling/health.ts';
import { Watch } from '../polling/observer.ts';
import { Runner } from '../polling/runner.ts';
import type { SnapshotSink } from '../polling/sink.ts';
import type { FilerNames } from '../sources/filer-names.ts';
import { GfaClient } from '../sources/gfa/client.ts';
import { GfaCollector, type Keeping } from '../sources/gfa/collector.ts';
import type { GfaConfig } from '../sources/gfa/configuration.ts';
import type { LedgerSettings } from '../sources/gfa/ledger.ts';
import { type Appliance, mostAppliances } from '../sources/portal/appliances/inventory.ts';
import { applianceUp } from '../sources/portal/appliances/series.ts';
import { PortalClient } from '../sources/portal/client.ts';
import { PortalCollector, type PortalSettings } from '../sources/portal/collector.ts';
import type { HistogramSettings } from '../sources/portal/collector-row.ts';
import type { PortalConfig } from '../sources/portal/configuration.ts';
import { portalRequests } from '../sources/portal/requests.ts';
import { TokenSource } from '../sources/portal/token.ts';
import type { AllowedRequests } from '../transport/allowed.ts';
import { answerLimits } from '../transport/answer-limits.ts';
import { JsonClient } from '../transport/client.ts';
import { createDispatcher } from '../transport/dispatcher.ts';
import { MeasuredRate } from '../transport/rate/adaptive-rate.ts';
import { Budget } from '../transport/rate/budget.ts';
import { Pace, type RateLimit } from '../transport/rate/pace.ts';
import { Pacer } from '../transport/rate/pacer.ts';
import type { Outside } from './environment.ts';

/** One API with everything that polls it. */
export interface Source {
  readonly api: Api;
  readonly intervalMs: number;
  readonly pacer: Pacer;
  readonly budget: Budget;
  readonly watch: Watch;
  readonly runner: Runner;
  /** Reads the inventory, where there is one, and counts its appliances. */
  readonly count: (signal: AbortSignal) => Promise<number>;
  /** Where it is asked, and how often at most. */
  readonly target: Pick<Target, 'baseUrl' | 'limit' | 'dailyLimit'>;
  /** Seconds until the token at hand expires, undefined without one; null where the API takes a key as it is. */
  readonly tokenSecondsLeft: (() => number | undefined) | null;
  /** What explains much that would puzzle an operator, in whole sentences. */
  readonly notes: () => readonly string[];
  /** What the inventory says of an appliance. */
  readonly describe: (serial: string) => Pick<Appliance, 'type' | 'build' | 'availableBuild'> | undefined;
  /** Lets go of what the API gave us. */
  readonly release: (signal: AbortSignal) => Promise<unknown>;
}

/**
 * When the portal counts as down. More failures in a row, and of more appliances, than there are workers: as many polls
 * as that can hang at once on broken appliances while all others are well.
 */
export function portalHealth(workers: number): HealthSettings {
  return { failures: 2 * workers, appliances: workers + 2, probe: { firstMs: 2_000, longestMs: 30_000 } };
}

/** `/data` has one task, and is asked at its interval whether or not it answers. */
const GFA_HEALTH: HealthSettings = { failures: 1, appliances: 1, probe: undefined };

/**
 * No limits are known of the file acceleration service. So many requests in one interval leave room for a retry and a
 * key that was read again, and they may follow each other within a second.
 */
const GFA_PACE = { requestsPerInterval: 4, mostPerMs: 1 / 1_000 } as const;

/** Polls of one appliance under way at most. */
const PER_APPLIANCE = 2;

/**
 * Seen events remembered, of each of the two kinds; see `EventMemory`. One takes some 170 bytes, and all of them in a
 * small process a third of its heap.
 */
export function eventMemory(heapBytes = Number.POSITIVE_INFINITY): MemoryLimits {
  return { perPair: 5_000, total: Math.min(500_000, Math.floor(heapBytes / 1024)) };
}

/** What a filer on a volume takes with its histograms and all its lines, in bytes: rather more. */
const PAIR_BYTES = 24 * 1024;

/** More filers on volumes would be read in too long a turn, however much memory there is. */
const MOST_PAIRS = 200_000;

function histogramSettings({ events }: Config): HistogramSettings {
  return { bounds: events.histograms ? events.bucketsSeconds : [], boundText: formatBound };
}

function ledgerSettings(
  config: Config,
  gfa: GfaConfig,
  names: FilerNames,
  heapBytes = Number.POSITIVE_INFINITY,
): LedgerSettings {
  return {
    histograms: histogramSettings(config),
    memory: eventMemory(heapBytes),
    mostPairs: Math.min(MOST_PAIRS, Math.floor(heapBytes / PAIR_BYTES)),
    groups: gfa.groups,
    goneAfterMs: config.staleAfter * gfa.intervalMs,
    names,
  };
}

/** The file acceleration service with everything that polls it, and the collector whose ledger is kept over restarts. */
export function gfaSource(
  config: Config,
  gfa: GfaConfig,
  keeping: Keeping | undefined,
  own: OwnMetrics,
  sink: SnapshotSink,
  outside: Outside,
  names: FilerNames,
): { readonly source: Source; readonly collector: GfaCollector } {
  const limit = { requests: GFA_PACE.requestsPerInterval, windowMs: gfa.intervalMs };
  const target: Target = {
    api: 'gfa',
    baseUrl: gfa.url,
    limit,
    dailyLimit: undefined,
    mostPerMs: GFA_PACE.mostPerMs,
    allowed: [],
    concurrency: 1,
  };
  const { client, pacer, budget, close } = politeClient(target, config, own, outside);
  const collector = new GfaCollector(
    new GfaClient(client, gfa, outside),
    { ledger: ledgerSettings(config, gfa, names, outside.heapBytes), intervalMs: gfa.intervalMs, keeping },
    outside.clock,
    outside.log,
  );
  const source: Source = {
    ...polled(collector, gfa.intervalMs, pacer, GFA_HEALTH, 1, sink, outside),
    budget,
    count: () => Promise.resolve(0),
    target,
    tokenSecondsLeft: null,
    notes: () => [],
    describe: () => undefined,
    release: close,
  };
  return { source, collector };
}

/** The portal with everything that polls it, and the collector whose counts are kept over restarts. */
export function portalSource(
  config: Config,
  portal: PortalConfig,
  own: OwnMetrics,
  sink: SnapshotSink,
  outside: Outside,
  names: FilerNames,
): { readonly source: Source; readonly collector: PortalCollector } {
  const { rateLimit, dailyLimit } = shareOf(portal, config.shard.total);
  const target: Target = {
    api: 'portal',
    baseUrl: portal.url,
    limit: rateLimit,
    dailyLimit,
    mostPerMs: rateLimit.requests / rateLimit.windowMs,
    allowed: portalRequests,
    concurrency: portal.concurrency,
  };
  const { client, pacer, budget, close } = politeClient(target, config, own, outside);
  const feasibility = new Feasibility(outside.log);
  const tokens = new TokenSource(client, portal.credentials, outside.clock);
  const collector = new PortalCollector(
    new PortalClient(client, tokens, outside),
    { ...portalSettings(config, portal, outside.heapBytes), names },
    outside,
  );
  const workers = portal.concurrency;
  const source: Source = {
    ...polled(collector, portal.intervalMs, pacer, portalHealth(workers), workers, sink, outside, {
      withoutAppliances: portal.series.length === 0,
      onTasks: (tasks) => {
        const volumes = tasks.filter(({ operation }) => operation === 'snapshot_details').length;
        const plan = planOf(portal, collector.appliances.length, config.shard.total, volumes);
        feasibility.judge(plan, tasks.length);
      },
    }),
    budget,
    count: (signal) => collector.countAppliances(signal),
    target,
    tokenSecondsLeft: () => tokens.secondsLeft,
    describe: (serial) => collector.describe(serial),
    notes: () => collector.notes,
    release: async (signal) => {
      await tokens.revoke(signal);
      await close();
    },
  };
  return { source, collector };
}

/** What is polled of the portal. */
export function portalSettings(config: Config, portal: PortalConfig, heapBytes?: number): PortalSettings {
  return {
    ...portal,
    shard: config.shard,
    staleAfter: config.staleAfter,
    binSeconds: portal.binSizeSeconds,
    histograms: histogramSettings(config),
    mostAppliances: mostAppliances(heapBytes ?? Number.POSITIVE_INFINITY),
  };
}

/** One API as it is asked: where, and how often at most. */
export interface Target {
  readonly api: Api;
  readonly baseUrl: string;
  readonly limit: RateLimit;
  readonly dailyLimit: number | undefined;
  /** The highest rate, in requests a millisecond. */
  readonly mostPerMs: number;
  readonly allowed: readonly AllowedRequests[];
  /** Requests in flight at most. */
  readonly concurrency: number;
}

/** A client with a pace of its own: the trouble of one API never touches the other's. */
export function politeClient(
  { api, baseUrl, limit, dailyLimit, mostPerMs, allowed, concurrency }: Target,
  config: Config,
  own: Pick<OwnMetrics, 'requestsOf'>,
  { clock, version, heapBytes = Number.POSITIVE_INFINITY, connect = createDispatcher }: Outside,
): {
  readonly client: JsonClient;
  readonly pacer: Pacer;
  readonly budget: Budget;
  readonly close: () => Promise<void>;
} {
  const { timeoutMs, maxResponseBytes } = config.requests;
  const proxy = proxyFor(baseUrl, config.requests.proxy);
  const dispatcher = connect(concurrency, proxy && { ...proxy, timeoutMs });
  const now = clock.monotonic();
  const budget = new Budget(dailyLimit, now);
  const pacer = new Pacer(new Pace(limit, new MeasuredRate(mostPerMs, now), now), budget, clock);
  const client = new JsonClient({
    baseUrl,
    userAgent: `filer-exporter/${version}`,
    dispatcher,
    clock,
    pacer,
    limit: pLimit(concurrency),
    observer: own.requestsOf(api),
    timeoutMs,
    allowed,
    limitsOf: (size) => answerLimits({ heapBytes, maxBytes: maxResponseBytes, concurrency }, size),
  });
  return { client, pacer, budget, close: () => dispatcher.destroy() };
}

/** What every API has: a watch on an agenda that a runner works off. */
function polled(
  collector: Collector,
  intervalMs: number,
  pacer: Pacer,
  health: HealthSettings,
  workers: number,
  sink: SnapshotSink,
  { clock, random, log }: Outside,
  more: { readonly withoutAppliances?: boolean; readonly onTasks?: (tasks: readonly Task[]) => void } = {},
): Pick<Source, 'api' | 'intervalMs' | 'pacer' | 'watch' | 'runner'> {
  const { api } = collector;
  const watch = new Watch({
    ...{ api, sink, log, clock, upName: applianceUp.name },
    withoutAppliances: more.withoutAppliances ?? false,
  });
  const agenda = new Agenda({ perAppliance: PER_APPLIANCE, suspects: Math.max(1, Math.floor(workers / 4)) });
  const runner = new Runner({
    collector,
    agenda,
    health: new ApiHealth(health, random),
    events: {
      ended: (outcome, turn) => watch.ended(outcome, turn),
      changed: (tasks, gone) => {
        watch.changed(tasks, gone);
        more.onTasks?.(tasks);
      },
      defect: (task, error) => watch.defect(task, error),
    },
    clock,
    random,
    workers,
    ...(sink.write && { write: sink.write }),
  });
  return { api, intervalMs, pacer, watch, runner };
}
