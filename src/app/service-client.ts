import pLimit from 'p-limit';
import type { Config } from '../config/config.ts';
import { proxyFor } from '../config/no-proxy.ts';
import { secretTexts } from '../config/secret-texts.ts';
import { type Explain, explainFor } from '../contract/causes.ts';
import { CredentialError, RequestError } from '../runtime/errors.ts';
import type { Inventory, ServiceDependencies, ServiceEndpoint } from '../services/service.ts';
import type { ConfiguredService } from '../services/services.ts';
import { createDispatcher } from '../transport/dispatcher.ts';
import { JsonClient, type RequestObserver } from '../transport/json-client.ts';
import { AdaptiveRate } from '../transport/rate/adaptive-rate.ts';
import { DailyQuota } from '../transport/rate/daily-quota.ts';
import { RateLimiter } from '../transport/rate/rate-limiter.ts';
import { RequestQueue } from '../transport/rate/request-queue.ts';
import { responseLimits } from '../transport/response-limits.ts';
import type { Environment } from './environment.ts';
import { serviceWarnings } from './service-warnings.ts';

interface ClientDependencies {
  readonly config: Config;
  readonly environment: Environment;
  readonly observer: RequestObserver;
  /** Replaces limits of the service. */
  readonly limits?: (target: ServiceEndpoint) => Partial<ServiceEndpoint>;
}

/**
 * Creates the client of one service. Each service has its own request rate, so a problem of one never affects another.
 */
export function createServiceClient({ service, settings }: ConfiguredService, parts: ClientDependencies) {
  const { config, environment, observer, limits } = parts;
  const { clock, version, heapBytes = Number.POSITIVE_INFINITY, connect = createDispatcher } = environment;
  const { timeoutMs, maxResponseBytes, proxy: proxies } = config.requests;
  const usual = service.target(settings, config);
  const target = { ...usual, ...limits?.(usual) };
  const { baseUrl, limit, dailyLimit, maxPerMs, concurrency } = target;
  const proxy = proxyFor(baseUrl, proxies);
  const dispatcher = connect(proxy && { ...proxy, timeoutMs });
  const now = clock.monotonic();
  const budget = new DailyQuota(dailyLimit, now);
  const pacer = new RequestQueue(new RateLimiter(limit, new AdaptiveRate(maxPerMs, now), now), budget, clock);
  let hasFailed = false;
  const client = new JsonClient({
    baseUrl,
    userAgent: `filer-exporter/${version}`,
    dispatcher,
    clock,
    requestQueue: pacer,
    limit: pLimit(concurrency),
    secrets: () => secretTexts(config),
    observer: {
      ...observer,
      onEnd: (operation, code, seconds) => {
        hasFailed ||= code !== '200';
        observer.onEnd?.(operation, code, seconds);
      },
    },
    timeoutMs,
    allowed: service.allowed ?? [],
    limitsOf: (size) => responseLimits({ heapBytes, maxBytes: maxResponseBytes, concurrency }, size),
  });
  return {
    client,
    target,
    pacer,
    budget,
    /** Returns whether any request was rejected or failed. */
    hasFailedRequest: () => hasFailed,
    close: () => dispatcher.destroy(),
  };
}

/** A service, connected through a client of its own; `release` closes that too. */
export function connectService(
  configured: ConfiguredService,
  parts: ClientDependencies & Pick<ServiceDependencies, 'names' | 'saveSoon'>,
) {
  const { config, environment, names, saveSoon } = parts;
  const { clock, random, log, heapBytes = Number.POSITIVE_INFINITY } = environment;
  const explain = explainFor(configured.service.causes);
  const { client, close, ...limits } = createServiceClient(configured, parts);
  const connection = configured.service.connect(configured.settings, {
    client,
    config,
    clock,
    random,
    log,
    heapBytes,
    names,
    saveSoon,
  });
  return {
    ...connection,
    ...limits,
    ...(connection.inventory && { inventory: advising(connection.inventory, explain) }),
    /** The time by the service's clock, in epoch milliseconds. */
    now: () => client.now(),
    clockSkewMs: () => client.serviceClock.skewMs,
    explain,
    warnings: () => serviceWarnings(client.serviceClock, limits.pacer, explain, connection.warnings?.()),
    release: async (signal: AbortSignal) => {
      await connection.close?.(signal);
      await close();
    },
  };
}

/** A command that only counts appliances ends with the error, so its message says what to do. */
function advising(inventory: Inventory, explain: Explain): Inventory {
  return {
    ...inventory,
    count: (signal) =>
      inventory.count(signal).catch((error: unknown) => {
        const isOfService = error instanceof RequestError || error instanceof CredentialError;
        if (isOfService && !signal.aborted) error.message += `; ${explain(error).advice}`;
        throw error;
      }),
  };
}
