import { isLoopback } from '../config/addresses.ts';
import type { Config } from '../config/config.ts';
import { proxyFor } from '../config/no-proxy.ts';
import { type Diagnoses, type DoctorParts, examineAll } from '../doctor/doctor.ts';
import { type Network, systemNetwork } from '../doctor/network.ts';
import { reportOf } from '../doctor/report.ts';
import { unpredictableKey } from '../runtime/random.ts';
import { compareNames } from '../sources/shared-names.ts';
import { configuredUpstreams } from '../sources/upstreams.ts';
import type { Exchange, RequestObserver } from '../transport/client.ts';
import type { Environment } from './environment.ts';
import { politeClient } from './polite-client.ts';

/** The doctor sends few requests, so up to ten a second are allowed. */
const LIMITS = { limit: { requests: 300, windowMs: 30_000 }, mostPerMs: 10 / 1_000, concurrency: 1 } as const;

export function createDoctor(config: Config, environment: Environment, network: Network = systemNetwork) {
  const patients = patientsOf(config, environment);
  const parts: DoctorParts = {
    ...{ patients, network, clock: environment.clock, allowance: config.requests },
    compare: (answers, find) => compareNames(answers, config.filerAliases, find),
  };
  return {
    requests: patients.reduce((sum, { examination }) => sum + examination.requests, 0),
    /** Examines every configured service. Rejects only on abort. */
    run: (signal: AbortSignal) => examineAll(parts, signal),
    /** The findings, safe to attach to a public issue. */
    report: (found: Diagnoses) => reportOf(found, environment.version, unpredictableKey()),
    close: async () => {
      for (const { close } of patients) await close();
    },
  };
}

function patientsOf(config: Config, environment: Environment) {
  return configuredUpstreams(config).flatMap((asked) => {
    const { api, upstream, settings } = asked;
    if (upstream.examine === undefined) return [];
    const exchanges: Exchange[] = [];
    const observer: RequestObserver = { exchanged: (exchange) => exchanges.push(exchange) };
    const { client, target, close } = politeClient(asked, { config, environment, observer, limits: () => LIMITS });
    const examination = upstream.examine(settings, { client, config, environment, exchanges });
    const url = target.baseUrl;
    const destination = { url, isLocal: isLoopback(url), proxy: proxyFor(url, config.requests.proxy) };
    return [{ api, destination, exchanges, examination, close }];
  });
}
