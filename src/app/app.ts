import type { Config } from '../config/config.ts';
import { OwnMetrics } from '../exposition/own/metrics.ts';
import { Scrapes } from '../exposition/scrapes.ts';
import { Connections } from '../http/connections.ts';
import { ExpositionServer, type Site } from '../http/server.ts';
import { landingPage } from '../pages/landing-page.ts';
import { noticeHtml } from '../pages/notice.ts';
import { PublishedStatus } from '../pages/published.ts';
import { inSlices } from '../runtime/slices.ts';
import type { ConfiguredUpstream } from '../sources/upstreams.ts';
import { exporterStatus, report } from '../status/report.ts';
import type { Environment } from './environment.ts';
import { type Guard, protectionOf } from './guard.ts';
import { historyOf } from './history.ts';
import { Lifecycle } from './lifecycle.ts';
import { expositionOf, Outputs } from './outputs.ts';
import { keeperOf, persistedOf } from './persisted-state.ts';
import { sourcesOf } from './source.ts';

export type App = Lifecycle;

/** Builds the program around these services: each part from those before it. */
export function createApp(
  asked: readonly ConfiguredUpstream[],
  config: Config,
  environment: Environment,
  guard?: Guard,
): App {
  const { clock, log, version, revision, nodeVersion } = environment;
  const own = new OwnMetrics(
    { version, revision, node_version: nodeVersion },
    asked.map(({ api }) => api),
  );
  const exposition = expositionOf(environment);
  const history = historyOf(config, asked, environment);
  const keeper = keeperOf(asked, config, environment);
  const outputs = [history].filter((output) => output !== undefined);
  const sink = new Outputs({ exposition, own, further: outputs });
  const sources = sourcesOf(asked, { config, own, sink, environment, keeper, history });
  const protection = guard && protectionOf(config.web, guard, environment);
  const connections = new Connections(config.web.maxConnections, clock, log);
  const expire = () => Promise.all(sources.map(({ poller }) => poller.expire()));
  const scrapes = new Scrapes({
    ...{ exposition, own, clock, expire },
    status: () => exporterStatus({ sources, keeper, protection, history, connections }, clock),
  });
  const notice = environment.notice && noticeHtml(environment.notice);
  const reported = async () => {
    await expire();
    return inSlices(report(sources, config.shard, environment), clock);
  };
  const status = new PublishedStatus(reported, clock, notice);
  const landing = landingPage(version, config.web.metricsPath, notice);
  const site: Site = {
    exposition: (format, gzip) => scrapes.body(format, gzip),
    ready: () => sources.every(({ poller, hasHadTrouble }) => poller.observer.polledOnce || hasHadTrouble()),
    statusPage: () => status.page(),
    statusJson: () => status.json(),
    landingPage: () => Promise.resolve(landing),
  };
  const server = new ExpositionServer({ ...config.web, front: protection?.front, connections, site, clock, log });
  const cursors = history === undefined ? [] : [{ api: 'remote_write', counts: history.cursors }];
  const persisted = persistedOf([...sources, ...cursors], clock);
  return new Lifecycle({ config, environment, sources, scrapes, server, keeper, persisted, history, protection });
}
