import type { Config } from '../config/config.ts';
import { type Explain, explainFor } from '../contract/causes.ts';
import { clockSkewWarning, type ServiceWarning, serviceWarning } from '../contract/service-warning.ts';
import type { PollSink } from '../contract/sink.ts';
import type { ExporterMetrics } from '../exposition/exporter/metrics.ts';
import { Poller } from '../polling/poller.ts';
import { FilerNames } from '../services/filer-names.ts';
import type { ConfiguredService } from '../services/services.ts';
import type { ServiceLimits } from '../transport/rate/limits.ts';
import type { ServiceClock } from '../transport/service-clock.ts';
import type { Environment } from './environment.ts';
import { createServiceClient } from './service-client.ts';
import type { StateKeeper } from './state-keeper.ts';

/** The warning of late data begins when the limits lengthen the interval by the first factor, and ends below the second. */
const LATE = { begins: 2, ends: 1.5 } as const;

interface PollingDependencies {
  readonly config: Config;
  readonly own: ExporterMetrics;
  readonly sink: PollSink;
  readonly environment: Environment;
  readonly keeper: StateKeeper | undefined;
}

export function createPolledServices(services: readonly ConfiguredService[], parts: PollingDependencies) {
  const { config, environment } = parts;
  const names = new FilerNames(config.filerAliases, (name, ids) =>
    environment.log.warn(
      { name, ids, advice: 'give them names of their own in FILER_ALIASES' },
      'Filers had the same name, so the label filer has a short id too.',
    ),
  );
  return services.map((service) => polledService(service, names, parts));
}

/** A service with a client and a poller of its own; `release` closes both. */
function polledService(configured: ConfiguredService, names: FilerNames, parts: PollingDependencies) {
  const { config, own, sink, environment, keeper } = parts;
  const { api, service, settings } = configured;
  const { clock, log, heapBytes = Number.POSITIVE_INFINITY } = environment;
  const explain = explainFor(service.causes);
  let hasFailed = false;
  const { client, limits, target, close } = createServiceClient(configured, {
    config,
    environment,
    onEnd: (exchange) => {
      hasFailed ||= exchange.error !== undefined;
      own.recordRequest(api, exchange);
    },
  });
  const connection = service.connect(settings, {
    client,
    config,
    clock,
    log,
    heapBytes,
    names,
    saveSoon: keeper?.saveSoon,
  });
  const { collector, inventory, intervalMs, savedPart } = connection;
  let isLate = false;
  const warnings = (): readonly ServiceWarning[] => {
    const { fleet } = poller;
    const found = [...clientWarnings(client.serviceClock, limits, explain), ...(connection.warnings?.() ?? [])].filter(
      // What would explain a failure is a warning only while most series have this failure.
      ({ explains }) => explains === undefined || fleet.isMostlyFailing(explains),
    );
    const factor = fleet.intervalFactor;
    isLate = factor >= (isLate ? LATE.ends : LATE.begins);
    if (!isLate) return found;
    const happened = `the limits allow so few requests that data comes ${Math.round(factor)} times later than configured`;
    return [...found, serviceWarning('late_data', happened)];
  };
  const poller: Poller = new Poller(
    {
      collector,
      appliances: inventory?.families,
      sink,
      workers: target.concurrency,
      intervalMs,
      warnings,
      explain,
      staleAfter: config.staleAfter,
      forgetAfterMs: config.forgetAfterMs,
      allowedPerSecond: () => limits.sustainedPerSecond,
      renewAuthorization: connection.renewAuthorization,
      isWaiting: () => limits.waitUntil !== undefined,
    },
    environment,
  );
  const quota = {
    name: `daily quota of ${api}`,
    save: () => limits.dailyQuota.save(),
    restore: (saved: unknown, shiftMs: number) => limits.dailyQuota.restore(saved, shiftMs),
  };
  return {
    ...connection,
    api,
    title: service.title,
    target,
    limits,
    explain,
    warnings,
    poller,
    savedParts: savedPart === undefined ? [quota] : [savedPart, quota],
    /** The time by the service's clock, in epoch milliseconds. */
    now: () => client.serviceClock.now(),
    clockSkewMs: () => client.serviceClock.skewMs,
    /** Returns whether any request was rejected or failed. */
    hasFailedRequest: () => hasFailed,
    release: async (signal: AbortSignal) => {
      await connection.close?.(signal);
      await close();
    },
  };
}

/** The warnings that follow from the responses of any service. */
function clientWarnings(serviceClock: ServiceClock, limits: ServiceLimits, explain: Explain): ServiceWarning[] {
  const { skewMs = 0, isSkewed } = serviceClock;
  const warnings: ServiceWarning[] = [];
  if (isSkewed) {
    const seconds = 10 * Math.round(Math.abs(skewMs) / 10_000);
    warnings.push(clockSkewWarning(`about ${seconds} s ${skewMs > 0 ? 'behind' : 'ahead of'}`));
  }
  if (limits.isThrottled) warnings.push(serviceWarning('throttled', explain('throttled').happened));
  return warnings;
}
