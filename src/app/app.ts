import type { Config } from '../config/config.ts';
import { ExporterMetrics } from '../exposition/exporter/metrics.ts';
import { MetricsPage } from '../exposition/metrics-page.ts';
import { landingPage } from '../pages/landing-page.ts';
import { noticeHtml } from '../pages/notice.ts';
import { StatusDocuments } from '../pages/status-documents.ts';
import { runInSlices } from '../runtime/slices.ts';
import type { ConfiguredService } from '../services/services.ts';
import { createReport, exporterStatus } from '../status/report.ts';
import { WarningLabels } from '../status/warning-labels.ts';
import { type Pages, WebServer } from '../web/server.ts';
import type { Environment } from './environment.ts';
import { Lifecycle } from './lifecycle.ts';
import { createPolledServices } from './polled-service.ts';
import { createRemoteWrite } from './remote-write.ts';
import { createLineStore, SinkFanOut } from './sinks.ts';
import { createStateKeeper } from './state-keeper.ts';
import { createAccessControl, createReloader, type WebConfigFile } from './web-access.ts';

export type App = Lifecycle;

/** Builds the program around these services. Each part gets those that were built before it. */
export function createApp(
  services: readonly ConfiguredService[],
  config: Config,
  environment: Environment,
  webConfigFile?: WebConfigFile,
): App {
  const { clock, log, version, revision, nodeVersion } = environment;
  const own = new ExporterMetrics(
    { version, revision, node_version: nodeVersion },
    services.map(({ api }) => api),
    services.flatMap(({ service }) => service.ownMetrics ?? []),
  );
  const exposition = createLineStore(environment);
  const keeper = createStateKeeper(services, config, environment);
  const history = createRemoteWrite(config, services, environment);
  const outputs = [history].filter((output) => output !== undefined);
  const sink = new SinkFanOut({ exposition, own, history, outputs });
  const sources = createPolledServices(services, { config, own, sink, environment, keeper });
  const review = () => {
    for (const { poller } of sources) poller.review();
  };
  const warningLabels = new WarningLabels();
  const scrapes = new MetricsPage({
    exposition,
    own,
    review,
    status: () =>
      exporterStatus({ sources, keeper, web: webConfig?.status, history, closed: server.closed, warningLabels }, clock),
  });
  const notice = environment.notice && noticeHtml(environment.notice);
  const reported = async () => {
    review();
    return runInSlices(createReport(sources, environment), clock);
  };
  const status = new StatusDocuments(reported, clock, notice);
  const landing = landingPage(version, config.web.metricsPath, notice);
  const pages: Pages = {
    exposition: (format, gzip) => scrapes.body(format, gzip),
    ready: () => sources.every(({ poller, hasFailedRequest }) => poller.health.hasPolled || hasFailedRequest()),
    statusPage: (query) => status.page(query),
    statusJson: () => status.json(),
    landingPage: () => Promise.resolve(landing),
  };
  const access = webConfigFile && createAccessControl(webConfigFile, environment);
  const server = new WebServer({ ...config.web, access, pages, clock, log });
  const webConfig = webConfigFile && createReloader(webConfigFile, server, environment);
  const savedParts = [...sources.flatMap((source) => source.savedParts), ...(history === undefined ? [] : [history])];
  return new Lifecycle({
    config,
    environment,
    sources,
    scrapes,
    pages,
    server,
    keeper,
    savedParts,
    history,
    webConfig,
  });
}
