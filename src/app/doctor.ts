import { isLoopback } from '../config/addresses.ts';
import type { Config } from '../config/config.ts';
import { proxyFor } from '../config/no-proxy.ts';
import { type DoctorDependencies, type DoctorResult, examineAll } from '../doctor/doctor.ts';
import { type Network, systemNetwork } from '../doctor/network.ts';
import { reportOf } from '../doctor/report.ts';
import { randomKey } from '../runtime/random.ts';
import { compareNames } from '../services/compare-names.ts';
import { configuredServices } from '../services/services.ts';
import type { Exchange, RequestObserver } from '../transport/json-client.ts';
import type { Environment } from './environment.ts';
import { createServiceClient } from './service-client.ts';

/** The doctor sends few requests, so up to ten a second are allowed. */
const LIMITS = { limit: { requests: 300, windowMs: 30_000 }, maxPerMs: 10 / 1_000, concurrency: 1 } as const;

export function createDoctor(config: Config, environment: Environment, network: Network = systemNetwork) {
  const patients = patientsOf(config, environment);
  const parts: DoctorDependencies = {
    patients,
    network,
    clock: environment.clock,
    allowance: config.requests,
    compare: (answers, find) => compareNames(answers, config.filerAliases, find),
  };
  return {
    requests: patients.reduce((sum, { examination }) => sum + examination.requests, 0),
    /** Examines every configured service. Rejects only on abort. */
    run: (signal: AbortSignal) => examineAll(parts, signal),
    /** The findings, safe to attach to a public issue. */
    report: (found: DoctorResult) => reportOf(found, environment.version, randomKey()),
    close: async () => {
      for (const { close } of patients) await close();
    },
  };
}

function patientsOf(config: Config, environment: Environment) {
  return configuredServices(config).flatMap((asked) => {
    const { api, service, settings } = asked;
    if (service.doctor === undefined) return [];
    const exchanges: Exchange[] = [];
    const observer: RequestObserver = { onExchange: (exchange) => exchanges.push(exchange) };
    const { client, target, close } = createServiceClient(asked, {
      config,
      environment,
      observer,
      limits: () => LIMITS,
    });
    const examination = service.doctor.createCheck(settings, { client, config, environment, exchanges });
    const url = target.baseUrl;
    const destination = { url, isLocal: isLoopback(url), proxy: proxyFor(url, config.requests.proxy) };
    return [{ api, destination, exchanges, examination, close }];
  });
}
