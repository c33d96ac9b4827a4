import pLimit from 'p-limit';
import { upstreamCatalog } from './catalog.ts';
import type { Config, GfaConfig, PortalConfig } from './config/config.ts';
import { Exposition } from './exposition/exposition.ts';
import { type ApiReading, OwnMetrics } from './exposition/own.ts';
import { landingPage, type StatusReport, statusPage } from './exposition/pages.ts';
import { ExpositionServer } from './exposition/server.ts';
import { ChunkStore } from './exposition/store.ts';
import { formatBound } from './exposition/text.ts';
import type { Api } from './metrics/snapshot.ts';
import type { Collector, Task } from './metrics/task.ts';
import { planOf, shareOf } from './plan.ts';
import { Agenda } from './polling/agenda.ts';
import { Feasibility } from './polling/feasibility.ts';
import { Freshness } from './polling/freshness.ts';
import { ApiHealth, type HealthSettings } from './polling/health.ts';
import { Runner } from './polling/runner.ts';
import { demandPerSecond, stretch, worstAgeMs } from './polling/sweep.ts';
import { type SnapshotSink, Watch } from './polling/watch.ts';
import type { Clock } from './runtime/clock.ts';
import type { Log } from './runtime/log.ts';
import type { Random } from './runtime/random.ts';
import { GfaClient } from './sources/gfa/client.ts';
import { GfaCollector } from './sources/gfa/collector.ts';
import { Ledger } from './sources/gfa/ledger.ts';
import { PortalClient } from './sources/portal/client.ts';
import { PortalCollector } from './sources/portal/collector.ts';
import { applianceUp } from './sources/portal/series.ts';
import { TokenSource } from './sources/portal/token.ts';
import { Budget } from './transport/budget.ts';
import { JsonClient } from './transport/client.ts';
import { createDispatcher } from './transport/dispatcher.ts';
import { Pace, type RateLimit } from './transport/pace.ts';
import { Pacer } from './transport/pacer.ts';
import { MeasuredRate } from './transport/rate-law.ts';

/** What is outside: handed in, so that a test can hand in something else. */
export interface Outside {
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  readonly version: string;
  readonly revision: string;
  readonly nodeVersion: string;
}

/** The program, built and not yet started. */
export interface App {
  /** Serves and polls; resolves with the port that is served on. Rejects when the address cannot be had. */
  start(): Promise<number>;
  /** Polls everything once without serving; resolves with the exposition, and whether anything could be polled. */
  once(signal: AbortSignal): Promise<{ readonly exposition: Buffer; readonly polled: boolean }>;
  /** Reads the inventory once and resolves with how many appliances this instance would poll. */
  countAppliances(): Promise<number>;
  /** Stops polling, lets scrapes end, gives the portal's token back; all of it within the configured time-out. */
  stop(): Promise<void>;
}

/** One API with everything that polls it. */
interface Source {
  readonly api: Api;
  readonly intervalMs: number;
  readonly pacer: Pacer;
  readonly watch: Watch;
  readonly runner: Runner;
  /** Reads the inventory, where there is one, and counts its appliances. */
  readonly count: (signal: AbortSignal) => Promise<number>;
  readonly facts: () => readonly (readonly [string, string])[];
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

/** No limits are known of the file acceleration service: so many requests in one interval leave room for a retry. */
const GFA_REQUESTS_PER_INTERVAL = 4;

/** Polls of one appliance under way at most. */
const PER_APPLIANCE = 2;

/** Seen events remembered; see `EventMemory`. */
const EVENT_MEMORY = { perPair: 5_000, total: 500_000 } as const;

/** Builds the program from its configuration: the one place that knows everybody. */
export function createApp(config: Config, outside: Outside): App {
  const { clock, log } = outside;
  // Shard 0 alone polls `/data`: on the others that API is not one that could be down.
  const gfa = config.shard.index === 0 ? config.gfa : undefined;
  const apis: Api[] = [...(gfa ? (['gfa'] as const) : []), ...(config.portal ? (['portal'] as const) : [])];
  const own = new OwnMetrics(
    { version: outside.version, revision: outside.revision, node_version: outside.nodeVersion },
    apis,
  );
  const store = new ChunkStore(upstreamCatalog);
  const sources: Source[] = [];
  const freshness = new Freshness(config.staleAfter, (task) => stretchOf(sources.find(({ api }) => api === task.api)));
  const ledger = gfa && createLedger(config, gfa);
  const exposition = new Exposition(
    store,
    own,
    () => ({ apis: sources.map(read), samples: 0, eventMemory: ledger?.memory }),
    () => freshness.expire(clock.monotonic()),
  );
  const sink: SnapshotSink = {
    publish: (task, snapshot) => {
      freshness.confirm(task, clock.monotonic());
      sink.dropped(task.api, exposition.publish(snapshot));
    },
    withdraw: (id) => {
      freshness.forget(id);
      exposition.withdraw(id);
    },
    dropped: (api, drops) => {
      for (const [reason, count] of drops) own.dropped(api, reason, count);
    },
  };
  if (gfa && ledger) sources.push(gfaSource(config, gfa, ledger, own, sink, outside));
  if (config.portal) sources.push(portalSource(config, config.portal, own, sink, outside));

  const server = new ExpositionServer({
    ...config.web,
    clock,
    log,
    site: {
      exposition: (format) => exposition.moment(format),
      ready: () => sources.every(({ watch }) => watch.polledOnce),
      statusPage: () => statusPage(report(sources, outside)),
      landingPage: () => landingPage(outside.version, config.web.metricsPath),
    },
  });
  const stopping = new AbortController();
  let running: Promise<unknown> = Promise.resolve();

  return {
    start: async () => {
      const port = await server.listen();
      running = Promise.all(sources.map(({ runner }) => runner.run(stopping.signal)));
      log.info({ port, path: config.web.metricsPath, apis, version: outside.version }, 'serving');
      return port;
    },
    once: async (signal) => {
      await Promise.all(sources.map(({ runner }) => runner.runOnce(signal)));
      const buffers = await exposition.moment('text');
      return { exposition: Buffer.concat(buffers), polled: sources.some(({ watch }) => watch.succeeded > 0) };
    },
    countAppliances: async () => {
      const counts = await Promise.all(sources.map(({ count }) => count(stopping.signal)));
      return counts.reduce((sum, count) => sum + count, 0);
    },
    stop: async () => {
      stopping.abort();
      const late = new AbortController();
      const ended = new AbortController();
      void clock.sleep(config.shutdownTimeoutMs, ended.signal).then(() => late.abort());
      // Polls end before anything is released: one of them may just have got the token that is to be given back.
      const released = running.then(() => Promise.all(sources.map(({ release }) => release(late.signal))));
      await Promise.all([server.close(late.signal), released]);
      ended.abort();
      log.info('stopped');
    },
  };
}

function createLedger(config: Config, gfa: GfaConfig): Ledger {
  return new Ledger({
    histograms: {
      bounds: config.events.histograms ? config.events.bucketsSeconds : [],
      boundText: formatBound,
    },
    memory: EVENT_MEMORY,
    groups: gfa.groups,
    goneAfterMs: config.staleAfter * gfa.intervalMs,
  });
}

function gfaSource(
  config: Config,
  gfa: GfaConfig,
  ledger: Ledger,
  own: OwnMetrics,
  sink: SnapshotSink,
  outside: Outside,
): Source {
  const limit = { requests: GFA_REQUESTS_PER_INTERVAL, windowMs: gfa.intervalMs };
  const { client, pacer, close } = politeClient('gfa', gfa.url, limit, undefined, config, own, outside);
  const collector = new GfaCollector(
    new GfaClient(client, gfa, outside),
    ledger,
    gfa.intervalMs,
    outside.clock,
    outside.log,
  );
  return {
    ...polled(collector, gfa.intervalMs, pacer, GFA_HEALTH, 1, sink, outside),
    count: () => Promise.resolve(0),
    facts: () => [['Base URL', gfa.url]],
    release: close,
  };
}

function portalSource(
  config: Config,
  portal: PortalConfig,
  own: OwnMetrics,
  sink: SnapshotSink,
  outside: Outside,
): Source {
  const { client, pacer, close } = politeClient(
    'portal',
    portal.url,
    shareOf(portal, config.shard.total).rateLimit,
    shareOf(portal, config.shard.total).dailyLimit,
    config,
    own,
    outside,
  );
  const feasibility = new Feasibility(outside.log);
  const tokens = new TokenSource(client, portal.credentials, outside.clock);
  const collector = new PortalCollector(
    new PortalClient(client, tokens, outside),
    { ...portal, shard: config.shard, binSeconds: portal.binSizeSeconds },
    outside.log,
  );
  const workers = config.requests.concurrency;
  return {
    ...polled(collector, portal.intervalMs, pacer, portalHealth(workers), workers, sink, outside, (tasks) =>
      feasibility.judge(planOf(portal, collector.appliances.length, config.shard.total), tasks.length),
    ),
    count: (signal) => collector.countAppliances(signal),
    facts: () => [
      ['Base URL', portal.url],
      ['Token', tokens.secondsLeft === undefined ? 'none' : `expires in ${Math.round(tokens.secondsLeft)} s`],
    ],
    release: async (signal) => {
      await tokens.revoke(signal);
      await close();
    },
  };
}

/** A client with a pace of its own: the trouble of one API never touches the other's. */
function politeClient(
  api: Api,
  baseUrl: string,
  limit: RateLimit,
  dailyLimit: number | undefined,
  config: Config,
  own: OwnMetrics,
  { clock, version }: Outside,
): { readonly client: JsonClient; readonly pacer: Pacer; readonly close: () => Promise<void> } {
  const { concurrency, timeoutMs, maxResponseBytes, proxy } = config.requests;
  const dispatcher = createDispatcher(
    concurrency,
    proxy && {
      httpProxy: proxy.httpProxy?.url.reveal() ?? '',
      httpsProxy: proxy.httpsProxy?.url.reveal() ?? '',
      noProxy: proxy.noProxy ?? '',
    },
  );
  const now = clock.monotonic();
  const pacer = new Pacer(
    new Pace(limit, new MeasuredRate(limit.requests / limit.windowMs, now), now),
    new Budget(dailyLimit, now),
    clock,
  );
  const client = new JsonClient({
    baseUrl,
    userAgent: `filer-exporter/${version}`,
    dispatcher,
    clock,
    pacer,
    limit: pLimit(concurrency),
    observer: own.requestsOf(api),
    timeoutMs,
    maxResponseBytes,
  });
  return { client, pacer, close: () => dispatcher.destroy() };
}

function polled(
  collector: Collector,
  intervalMs: number,
  pacer: Pacer,
  health: HealthSettings,
  workers: number,
  sink: SnapshotSink,
  { clock, random, log }: Outside,
  onTasks: (tasks: readonly Task[]) => void = () => {},
): Pick<Source, 'api' | 'intervalMs' | 'pacer' | 'watch' | 'runner'> {
  const { api } = collector;
  const watch = new Watch({ api, sink, log, clock, upName: applianceUp.name });
  const agenda = new Agenda({ perAppliance: PER_APPLIANCE, suspects: Math.max(1, Math.floor(workers / 4)) });
  const runner = new Runner({
    collector,
    agenda,
    health: new ApiHealth(health, random),
    events: {
      ended: (outcome, turn) => watch.ended(outcome, turn),
      changed: (tasks, gone) => {
        watch.changed(tasks, gone);
        onTasks(tasks);
      },
    },
    clock,
    random,
    workers,
  });
  return { api, intervalMs, pacer, watch, runner };
}

/** How many times its interval a task of this API has to wait, as the limits are now. */
function stretchOf(source: Source | undefined): number {
  if (source === undefined) return 1;
  const { watch, runner, pacer } = source;
  const demand = demandPerSecond(watch.tasks, ({ id }) => runner.restReason(id) !== undefined);
  return stretch(demand, pacer.sustainedPerSecond);
}

function read(source: Source): ApiReading {
  const { api, watch, pacer, runner, intervalMs } = source;
  const stretched = stretchOf(source);
  const awake = watch.tasks.filter(({ id, changesTasks }) => !changesTasks && runner.restReason(id) === undefined);
  const longestMs = awake.reduce((most, task) => Math.max(most, task.intervalMs), intervalMs);
  const ages = watch.ages(({ id }) => runner.restReason(id) === undefined);
  return {
    api,
    up: watch.up,
    pacePerSecond: pacer.perSecond,
    budgetRemaining: pacer.budgetRemaining,
    lastSuccessSeconds: watch.lastSuccessAt === undefined ? undefined : watch.lastSuccessAt / 1000,
    sweepSeconds: watch.sweepSeconds,
    effectiveIntervalSeconds: (intervalMs * stretched) / 1000,
    resting: runner.restingBy(),
    medianAgeSeconds: ages?.medianSeconds,
    worstAgeSeconds: ages?.worstSeconds,
    computedWorstAgeSeconds: worstAgeMs(longestMs, stretched) / 1000,
  };
}

function report(sources: readonly Source[], { version, clock }: Outside): StatusReport {
  const now = clock.now();
  const ago = (at: number | undefined) => (at === undefined ? 'never' : `${Math.round((now - at) / 1000)} s ago`);
  return {
    version,
    apis: sources.map((source) => {
      const { api, watch, facts } = source;
      const { pacePerSecond, budgetRemaining, effectiveIntervalSeconds, sweepSeconds } = read(source);
      const { resting } = source.runner;
      return {
        name: api,
        up: watch.up,
        facts: [
          ...facts(),
          ['Last success', ago(watch.lastSuccessAt)],
          ['Last error', watch.lastError ?? 'none'],
          ['Pace', `${pacePerSecond.toFixed(2)} requests a second`],
          [
            'Budget left',
            budgetRemaining === undefined ? 'no daily limit' : `${budgetRemaining} requests of the last 24 h’ limit`,
          ],
          ['Interval', `${Math.round(effectiveIntervalSeconds)} s as the limits allow it`],
          ['Last sweep', sweepSeconds === undefined ? 'not ended yet' : `${sweepSeconds.toFixed(1)} s`],
          ['Tasks', `${watch.tasks.length}, ${resting} of them resting`],
        ],
      };
    }),
    appliances: sources.flatMap(({ watch }) =>
      watch.appliances().map(({ name, serial, up, lastPollAt, lastSuccessAt, lastError }) => ({
        name,
        serial,
        up,
        lastPoll: ago(lastPollAt),
        lastSuccess: ago(lastSuccessAt),
        lastError: lastError ?? '',
      })),
    ),
  };
}
