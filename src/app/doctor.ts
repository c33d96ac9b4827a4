import type { Config } from '../config/config.ts';
import { explainFor } from '../contract/causes.ts';
import { checkServices, type DoctorDependencies } from '../doctor/doctor.ts';
import { compareNames } from '../services/compare-names.ts';
import { configuredServices } from '../services/services.ts';
import type { Exchange } from '../transport/json-client.ts';
import type { Environment } from './environment.ts';
import { createServiceClient } from './service-client.ts';

/** The doctor sends few requests, so up to ten a second are allowed. */
const LIMITS = { limit: { requests: 300, windowMs: 30_000 }, maxPerMs: 10 / 1_000, concurrency: 1 } as const;

export function createDoctor(config: Config, environment: Environment) {
  const services = servicesToCheck(config, environment);
  const parts: DoctorDependencies = {
    services,
    limits: config.requests,
    compare: (results, reportFinding) => compareNames(results, config.filerAliases, reportFinding),
  };
  return {
    requests: services.reduce((sum, { check }) => sum + check.requests, 0),
    /** Checks every configured service. Rejects only on abort. */
    run: (signal: AbortSignal) => checkServices(parts, signal),
    close: async () => {
      for (const { close } of services) await close();
    },
  };
}

function servicesToCheck(config: Config, environment: Environment) {
  return configuredServices(config).map((configured) => {
    const { api, service, settings } = configured;
    const exchanges: Exchange[] = [];
    const { client, close } = createServiceClient(configured, {
      config,
      environment,
      onEnd: (exchange) => exchanges.push(exchange),
      ownLimits: LIMITS,
    });
    const check = service.createCheck(settings, { client, config, environment, exchanges });
    return { api, exchanges, check, explain: explainFor(service.causes, true), close };
  });
}
