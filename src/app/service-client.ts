import { type Config, secretTexts } from '../config/config.ts';
import { proxyFor } from '../config/proxy.ts';
import type { ServiceEndpoint } from '../services/service.ts';
import type { ConfiguredService } from '../services/services.ts';
import { createDispatcher } from '../transport/dispatcher.ts';
import { type Exchange, JsonClient } from '../transport/json-client.ts';
import { ServiceLimits } from '../transport/rate/limits.ts';
import { responseLimits } from '../transport/response-body.ts';
import type { Environment } from './environment.ts';

interface ClientDependencies {
  readonly config: Config;
  readonly environment: Environment;
  readonly onEnd: (exchange: Exchange) => void;
  /** Replaces limits of the service. */
  readonly ownLimits?: Partial<ServiceEndpoint>;
}

/** Creates the client of one service. Each service has its own limits, so a problem of one never affects another. */
export function createServiceClient({ service, settings }: ConfiguredService, parts: ClientDependencies) {
  const { config, environment, onEnd, ownLimits } = parts;
  const { clock, version, heapBytes = Number.POSITIVE_INFINITY, connect = createDispatcher } = environment;
  const { timeoutMs, maxResponseBytes } = config.requests;
  const target = { ...service.target(settings), ...ownLimits };
  const { baseUrl } = target;
  const dispatcher = connect(proxyFor(baseUrl, config.requests));
  const limits = new ServiceLimits(target, environment);
  const client = new JsonClient({
    baseUrl,
    userAgent: `filer-exporter/${version}`,
    dispatcher,
    clock,
    timeoutMs,
    limits,
    responseLimits: responseLimits(heapBytes, maxResponseBytes),
    allowed: service.allowed ?? [],
    secrets: () => secretTexts(config),
    onEnd,
  });
  return { client, limits, target, close: () => dispatcher.destroy() };
}
