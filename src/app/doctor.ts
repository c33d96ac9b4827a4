import type { Config } from '../config/config.ts';
import { explainFor } from '../contract/causes.ts';
import { checkExchanges } from '../doctor/exchange-checks.ts';
import type { Finding, ReportFinding } from '../doctor/finding.ts';
import type { NamesOfService } from '../doctor/service-check.ts';
import { compareNames } from '../services/compare-names.ts';
import { type ConfiguredService, configuredServices } from '../services/services.ts';
import type { Exchange } from '../transport/json-client.ts';
import type { Environment } from './environment.ts';
import { createServiceClient } from './service-client.ts';

/** The doctor sends few requests, so up to ten a second are allowed. */
const LIMITS = { limit: { requests: 300, windowMs: 30_000 }, maxPerMs: 10 / 1_000, concurrency: 1 } as const;

export function createDoctor(config: Config, environment: Environment) {
  const services = configuredServices(config).map((configured) => serviceToCheck(configured, config, environment));
  return {
    requests: services.reduce((sum, { check }) => sum + check.requests, 0),
    /** Checks one configured service after the other. Rejects only on abort. */
    run: async (signal: AbortSignal): Promise<readonly Finding[]> => {
      const findings: Finding[] = [];
      const about =
        (subject: string): ReportFinding =>
        (level, check, code, observed, more) => {
          findings.push({ subject, level, check, code, observed, ...more });
        };
      const names = new Map<string, NamesOfService>();
      for (const { api, check, exchanges, explain } of services) {
        names.set(api, await check.run(about(api), signal));
        checkExchanges(exchanges, explain, config.requests, about(api));
      }
      compareNames(names.get('gfa'), names.get('portal'), config.filerAliases, about('names'));
      return findings;
    },
    close: async () => {
      for (const { close } of services) await close();
    },
  };
}

function serviceToCheck(configured: ConfiguredService, config: Config, environment: Environment) {
  const { api, service, settings } = configured;
  /** Every request and its response. */
  const exchanges: Exchange[] = [];
  const { client, close } = createServiceClient(configured, {
    config,
    environment,
    onEnd: (exchange) => exchanges.push(exchange),
    ownLimits: LIMITS,
  });
  const check = service.createCheck(settings, { client, config, environment, exchanges });
  return { api, exchanges, check, explain: explainFor(service.causes, true), close };
}
