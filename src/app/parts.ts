import { upstreamCatalog } from '../catalog.ts';
import type { Config } from '../config/config.ts';
import type { PollSink, ResultSource } from '../contract/sink.ts';
import { ExporterMetrics } from '../exposition/exporter/metrics.ts';
import type { Corrections } from '../exposition/format.ts';
import { MetricsPage } from '../exposition/metrics-page.ts';
import { LineStore } from '../exposition/store.ts';
import type { RemoteWrite } from '../history/remote-write.ts';
import { randomKey } from '../runtime/random.ts';
import { configuredServices } from '../services/services.ts';
import { apiReport, statusReport } from '../status/report.ts';
import { AccessControl } from '../web/access-control.ts';
import { landingPage } from '../web/pages/page.ts';
import { statusJson, statusPage } from '../web/pages/status-page.ts';
import { compareInThread, PasswordChecker } from '../web/passwords.ts';
import { type Pages, WebServer } from '../web/server.ts';
import type { WebConfig } from '../web/web-config.ts';
import { WebConfigReloader } from '../web/web-config-reloader.ts';
import type { Environment } from './environment.ts';
import { createPolledServices } from './polled-service.ts';
import { createRemoteWrite } from './remote-write.ts';
import { createStateKeeper } from './state-keeper.ts';

/**
 * The limit for all lines, as a share of the heap's limit: three times the lines of the largest fleet for which the
 * container is large enough.
 */
const LINES_SHARE = 1 / 3;

export type AppParts = ReturnType<typeof createParts>;

/** Builds the parts of the program. Each gets those that were built before it. */
export function createParts(config: Config, environment: Environment, webConfig?: WebConfig) {
  const services = configuredServices(config);
  const { clock, log, version, revision, nodeVersion } = environment;
  const own = new ExporterMetrics(
    { version, revision, node_version: nodeVersion },
    services.map(({ api }) => api),
    services.flatMap(({ service }) => service.ownMetrics ?? []),
  );
  const exposition = new LineStore(upstreamCatalog, LINES_SHARE * (environment.heapBytes ?? Number.POSITIVE_INFINITY));
  const keeper = createStateKeeper(services, config, environment);
  const history = createRemoteWrite(config, services, environment);
  const sink = createSink(exposition, own, history);
  const sources = createPolledServices(services, { config, own, sink, environment, keeper });
  const review = () => {
    for (const { poller } of sources) poller.review();
  };
  const scrapes = new MetricsPage({
    exposition,
    own,
    review,
    status: () => ({
      apis: sources.map((source) => apiReport(source, clock)),
      own: new Map(sources.flatMap(({ ownValues }) => [...(ownValues?.() ?? [])])),
      state: keeper,
      web: reloader?.status,
      remoteWrite: history?.status(),
      closed: server.closed,
    }),
  });
  const { notice } = environment;
  const report = () => {
    review();
    return statusReport(sources, environment);
  };
  const landing = landingPage(version, config.web.metricsPath, notice);
  const pages: Pages = {
    exposition: (format, gzip) => scrapes.body(format, gzip),
    ready: () => sources.every(({ poller, hasFailedRequest }) => poller.health.hasPolled || hasFailedRequest()),
    statusPage: (query) => statusPage(report(), query, notice),
    statusJson: () => statusJson(report()),
    landingPage: () => landing,
  };
  const passwords = new PasswordChecker(compareInThread, randomKey());
  const access = webConfig && new AccessControl(webConfig.rules, passwords, clock);
  const server = new WebServer({ ...config.web, access, pages, clock, log });
  const adopt = (rules: WebConfig['rules']) => server.adopt(rules);
  const reloader = webConfig && new WebConfigReloader({ ...webConfig, adopt, clock, log });
  return { config, environment, sources, scrapes, server, keeper, history, reloader };
}

/** Passes each result to remote write and to `/metrics`, and counts what was dropped. */
function createSink(exposition: LineStore, own: ExporterMetrics, history: RemoteWrite | undefined): PollSink {
  const countCorrections = ({ api }: ResultSource, { cut, duplicates }: Corrections) => {
    own.dropped(api, 'label', cut);
    own.dropped(api, 'duplicate', duplicates);
  };
  return {
    accept: async (origin, pollResult) => {
      if (pollResult.minutes !== undefined) history?.accept(origin.id, pollResult.minutes);
      const corrected = await exposition.accept(origin.id, pollResult.samples);
      for (const [reason, count] of pollResult.drops) own.dropped(origin.api, reason, count);
      countCorrections(origin, corrected);
    },
    publishState: (origin, samples) => countCorrections(origin, exposition.publish(origin.id, samples)),
    withdraw: (id, keepsCounts) => {
      exposition.withdraw(id, keepsCounts);
      if (!keepsCounts) history?.leave(id);
    },
    minutesSince: (task) => history?.minutesSince(task),
  };
}
