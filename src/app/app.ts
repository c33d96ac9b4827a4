import { upstreamCatalog } from '../catalog.ts';
import type { Config } from '../config/config.ts';
import { warnOfLooseFiles } from '../config/secret-files.ts';
import { codec } from '../exposition/compression.ts';
import { Exposition } from '../exposition/exposition.ts';
import { OwnMetrics } from '../exposition/own/metrics.ts';
import { LineStore } from '../exposition/store.ts';
import { ExpositionServer } from '../http/server.ts';
import { landingPage } from '../pages/landing-page.ts';
import { noticeHtml } from '../pages/notice.ts';
import { PublishedStatus } from '../pages/published.ts';
import { FilerNames } from '../sources/filer-names.ts';
import { StateKeeper } from '../state/keeper.ts';
import { read, report } from '../status/report.ts';
import { Reloading } from '../web/reloading.ts';
import { askedUpstreams } from './asked.ts';
import type { Environment } from './environment.ts';
import { type Guard, webFront } from './guard.ts';
import { historyOf } from './history.ts';
import { keptOf, ownersOf } from './persisted-state.ts';
import { Outputs } from './sink.ts';
import { type Source, sourceOf } from './source.ts';

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

/** How often an instance saves its state where no poll does: little changes but the day's budget. */
const STATE_INTERVAL_MS = 60_000;

/**
 * What all lines may take, as a share of what the heap may: they lie beside it, where a container has as much again. It
 * is three times what the lines of a fleet take for which the container is large enough.
 */
const LINES_SHARE = 1 / 3;

/** Builds the program from its configuration: the one place that knows everybody. */
export function createApp(config: Config, environment: Environment, guard?: Guard): App {
  const { clock, log } = environment;
  const asked = askedUpstreams(config);
  const apis = asked.map(({ api }) => api);
  const own = new OwnMetrics(
    { version: environment.version, revision: environment.revision, node_version: environment.nodeVersion },
    apis,
  );
  const store = new LineStore(upstreamCatalog);
  const sources: Source[] = [];
  const names = new FilerNames(
    config.filerAliases,
    asked.some(({ upstream }) => upstream.namesFilers),
    (name, ids) => {
      log.warn({ name, ids }, 'filers share a name: label filer gets a short id');
    },
  );
  const kept = keptOf(ownersOf(asked, config), () => sources, clock);
  const stateStore = config.stateFile === undefined ? undefined : environment.openState?.(config.stateFile);
  const keeper = stateStore && new StateKeeper(stateStore, kept, clock, log);
  const exposition = new Exposition(
    store,
    own,
    () => ({
      apis: sources.map((source) => read(source, clock.monotonic())),
      eventMemory: undefined,
      ...sources.map(({ events }) => events?.()).find((reading) => reading !== undefined),
      state: keeper,
      web: reloading?.reading,
      remoteWrite: history?.status(),
      closed: server.closed,
    }),
    () => {
      for (const { poller } of sources) poller.expire(clock.monotonic());
      return [];
    },
    clock,
    (environment.heapBytes ?? Number.POSITIVE_INFINITY) * LINES_SHARE,
    {
      ...codec,
      failed: (err) => log.error({ err }, 'compression failed; serving uncompressed'),
    },
  );
  const sink = new Outputs(exposition, (api, reason, count) => own.dropped(api, reason, count));
  const history = historyOf(config, asked, environment);
  for (const one of asked)
    sources.push(sourceOf(one, { config, own, sink, environment, names, keeping: keeper, history }));

  const front = guard && webFront(config.web, guard, environment);
  const notice = environment.notice && noticeHtml(environment.notice);
  const status = new PublishedStatus(() => report(sources, config.shard, environment), clock, notice);
  const landing = landingPage(environment.version, config.web.metricsPath, notice);
  const server = new ExpositionServer({
    ...config.web,
    front,
    clock,
    log,
    site: {
      exposition: (format, coding) => exposition.body(format, coding),
      ready: () => sources.every(({ poller, hasHadTrouble }) => poller.observer.polledOnce || hasHadTrouble()),
      statusPage: () => status.page(),
      statusJson: () => status.json(),
      landingPage: () => Promise.resolve(landing),
    },
  });
  const reloading =
    guard &&
    front &&
    new Reloading({
      path: guard.path,
      read: guard.read,
      first: guard.first,
      adopt: async (rules) => {
        front.adopt(rules);
        server.closeIdle();
        await warnOfLooseFiles(rules.ownFiles, guard.factsOf, log);
      },
      clock,
      log,
    });
  /** Takes back what the process before this one kept; what is still fresh of it is exposed before the first poll. */
  const restore = async () => {
    await keeper?.load();
    for (const { kept, poller } of sources) {
      const known = kept.values?.known();
      if (known === undefined) continue;
      const { task, samples, answeredAt } = known;
      await poller.restore(task, { samples, drops: new Map(), empty: false }, answeredAt);
    }
  };
  const stopping = new AbortController();
  /** What goes on until the stop: the polls of each service, those with all that saves, and looking at files. */
  let polling: readonly Promise<unknown>[] = sources.map(() => Promise.resolve());
  let running: Promise<unknown> = Promise.resolve();
  let looking: Promise<unknown> | undefined;

  return {
    start: async () => {
      const port = await server.listen();
      // A stop that came while the address was looked up found nothing to close.
      if (stopping.signal.aborted) await server.close(stopping.signal);
      else await restore();
      if (stopping.signal.aborted) return port;
      const saving =
        sources.every(({ kept }) => kept.values === undefined) && keeper?.run(STATE_INTERVAL_MS, stopping.signal);
      polling = sources.map(({ poller }) => poller.run(stopping.signal));
      running = Promise.all([saving, history?.run(stopping.signal), ...polling]);
      looking = reloading?.run(stopping.signal);
      const address = `${guard?.first.rules.tls ? 'https' : 'http'}://${hostOf(config.web.host)}:${port}`;
      log.info({ port, path: config.web.metricsPath, apis, version: environment.version }, `listening on ${address}`);
      return port;
    },
    once: async (signal) => {
      await restore();
      await Promise.all(sources.map(({ poller }) => poller.runOnce(signal)));
      return {
        exposition: await exposition.whole('text'),
        polled: sources.some(({ poller }) => poller.observer.succeeded > 0),
      };
    },
    countAppliances: async () => {
      const counts = await Promise.all(sources.map(({ count }) => count(stopping.signal)));
      return counts.reduce((sum, count) => sum + count, 0);
    },
    stop: async () => {
      stopping.abort();
      const late = new AbortController();
      const ended = new AbortController();
      const timeout = clock.sleep(config.shutdownTimeoutMs, ended.signal).then(() => late.abort());
      // Any of it may hang on a disk. Polls end before anything is released: one of them may just have got the token that is to be given back.
      const released = sources.map(({ release }, index) =>
        Promise.race([polling[index], timeout]).then(() => release(late.signal)),
      );
      // Nothing changes any more while it is written.
      const sent = async () => {
        await history?.flush(late.signal);
        await keeper?.save();
      };
      const finished = running.then(() => keeper?.save()).then(() => history && sent());
      const saved = Promise.race([finished, timeout]);
      await Promise.all([server.close(late.signal), ...released, saved, Promise.race([looking, timeout])]);
      ended.abort();
      log.info('stopped');
    },
  };
}

/** A host as a URL has it; where it listens on all addresses, this machine's own name for itself. */
function hostOf(host: string | undefined): string {
  if (host === undefined || host === '0.0.0.0' || host === '::') return 'localhost';
  return host.includes(':') ? `[${host}]` : host;
}
