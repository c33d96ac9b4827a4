import { isLoopback } from '../config/addresses.ts';
import type { Config } from '../config/config.ts';
import { proxyFor } from '../config/no-proxy.ts';
import { type Diagnoses, type DoctorParts, examineAll, type Patient } from '../doctor/doctor.ts';
import { type Network, systemNetwork } from '../doctor/network.ts';
import { reportOf } from '../doctor/report.ts';
import { unpredictableKey } from '../runtime/random.ts';
import { compareNames } from '../sources/shared-names.ts';
import { configuredUpstreams } from '../sources/upstreams.ts';
import type { Exchange, RequestObserver } from '../transport/client.ts';
import type { Environment } from './environment.ts';
import { politeClient } from './polite-client.ts';

/** The doctor sends few requests, so up to ten a second are allowed. */
const PACE = { limit: { requests: 300, windowMs: 30_000 }, mostPerMs: 10 / 1_000 } as const;

export function createDoctor(config: Config, environment: Environment, network: Network = systemNetwork) {
  const patients = patientsOf(config, environment);
  const parts: DoctorParts = {
    ...{ patients, network, clock: environment.clock, allowance: config.requests },
    compare: (answers, find) => compareNames(answers, config.filerAliases, find),
  };
  return {
    /** The most requests that it sends. */
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

/** Every configured service, with a client that records its exchanges. */
function patientsOf(
  config: Config,
  environment: Environment,
): readonly (Patient & { readonly close: () => Promise<void> })[] {
  return configuredUpstreams(config).flatMap(({ api, upstream, settings }) => {
    if (upstream.examine === undefined) return [];
    const exchanges: Exchange[] = [];
    const observer: RequestObserver = { exchanged: (exchange) => exchanges.push(exchange) };
    const { baseUrl, dailyLimit } = upstream.target(settings, config);
    const target = { api, baseUrl, dailyLimit, allowed: upstream.allowed ?? [], concurrency: 1, ...PACE };
    const { client, close } = politeClient(target, config, { requestsOf: () => observer }, environment);
    const proxy = proxyFor(baseUrl, config.requests.proxy);
    const destination = { url: baseUrl, isLocal: isLoopback(baseUrl), proxy };
    const examination = upstream.examine(settings, { client, config, environment, exchanges });
    return [{ api, destination, exchanges, examination, close }];
  });
}
