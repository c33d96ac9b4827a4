import type { Config } from '../config/config.ts';
import type { PollSink } from '../contract/sink.ts';
import type { ExporterMetrics } from '../exposition/exporter/metrics.ts';
import { Poller } from '../polling/poller.ts';
import { FilerNames } from '../services/filer-names.ts';
import type { ConfiguredService } from '../services/services.ts';
import type { Environment } from './environment.ts';
import { connectService } from './service-client.ts';
import { LateDataWarning } from './service-warnings.ts';
import type { StateKeeper } from './state-keeper.ts';

export type PolledService = ReturnType<typeof polledService>;

interface PollingDependencies {
  readonly config: Config;
  readonly own: ExporterMetrics;
  readonly sink: PollSink;
  readonly environment: Environment;
  readonly keeper: StateKeeper | undefined;
}

export function createPolledServices(
  services: readonly ConfiguredService[],
  parts: PollingDependencies,
): readonly PolledService[] {
  const { config, environment } = parts;
  const names = new FilerNames(config.filerAliases, (name, ids) =>
    environment.log.warn({ name, ids }, 'filers share a name; a short id is added to the label filer'),
  );
  return services.map((service) => polledService(service, names, parts));
}

function polledService(configured: ConfiguredService, names: FilerNames, parts: PollingDependencies) {
  const { config, own, sink, environment, keeper } = parts;
  const { api } = configured;
  const connected = connectService(configured, {
    config,
    environment,
    names,
    saveSoon: keeper?.saveSoon,
    observer: own.requestsOf(api),
  });
  const { collector, inventory, intervalMs, target, pacer } = connected;
  const lateData = new LateDataWarning();
  const warnings = () => {
    // What would explain a failure is a warning only while most series have this failure.
    const { fleet } = poller;
    const ofService = connected
      .warnings()
      .filter(({ explains }) => explains === undefined || fleet.isMostlyFailing(explains));
    return [...ofService, ...lateData.update(fleet.intervalFactor)];
  };
  const poller: Poller = new Poller(
    {
      collector,
      appliances: inventory?.families,
      sink,
      workers: target.concurrency,
      intervalMs,
      warnings,
      explain: connected.explain,
      staleAfter: config.staleAfter,
      forgetAfterMs: config.forgetAfterMs,
      allowedPerSecond: () => pacer.sustainedPerSecond,
      renewAuthorization: connected.renewAuthorization,
      isWaiting: () => pacer.waitUntil !== undefined,
    },
    environment,
  );
  return { ...connected, warnings, api, title: configured.service.title, poller };
}
