import { isLoopback } from '../config/addresses.ts';
import type { Config } from '../config/config.ts';
import { proxyFor } from '../config/no-proxy.ts';
import { type Diagnoses, examineAll, type Patient } from '../doctor/doctor.ts';
import { type Network, systemNetwork } from '../doctor/network.ts';
import { type Report, reportOf } from '../doctor/report.ts';
import { formatBound } from '../exposition/format.ts';
import { unpredictableKey } from '../runtime/random.ts';
import { compareNames } from '../sources/shared-names.ts';
import { upstreams } from '../sources/upstreams.ts';
import type { Exchange, RequestObserver } from '../transport/client.ts';
import type { Environment } from './environment.ts';
import { politeClient } from './polite-client.ts';

/** The doctor sends few requests, so up to ten a second are allowed. */
const PACE = { limit: { requests: 300, windowMs: 30_000 }, mostPerMs: 10 / 1_000 } as const;

export interface Doctor {
  /** The most requests that it sends. */
  readonly requests: number;
  /** Examines every configured service. Rejects only on abort. */
  run(signal: AbortSignal): Promise<Diagnoses>;
  /** The findings, safe to attach to a public issue. */
  report(found: Diagnoses): Report;
  close(): Promise<void>;
}

export function createDoctor(config: Config, environment: Environment, network: Network = systemNetwork): Doctor {
  const patients = patientsOf(config, environment);
  return {
    requests: patients.reduce((sum, { examination }) => sum + examination.requests, 0),
    run: (signal) =>
      examineAll(
        {
          ...{ patients, network, clock: environment.clock, allowance: config.requests },
          compare: (answers, find) => compareNames(answers, config.filerAliases, find),
        },
        signal,
      ),
    report: (found) => reportOf(found, environment.version, unpredictableKey()),
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
  return upstreams.flatMap((upstream) => {
    const settings = upstream.section.of(config);
    if (settings === undefined || upstream.examine === undefined) return [];
    const exchanges: Exchange[] = [];
    const observer: RequestObserver = {
      ...{ started: () => {}, ended: () => {}, throttled: () => {} },
      exchanged: (exchange) => exchanges.push(exchange),
    };
    const { api } = upstream.section;
    const { baseUrl, dailyLimit } = upstream.target(settings, config);
    const target = { api, baseUrl, dailyLimit, allowed: upstream.allowed ?? [], concurrency: 1, ...PACE };
    const { client, close } = politeClient(target, config, { requestsOf: () => observer }, environment);
    const proxy = proxyFor(baseUrl, config.requests.proxy);
    const destination = { url: baseUrl, isLocal: isLoopback(baseUrl), proxy };
    const examination = upstream.examine(settings, {
      ...{ client, config, environment, boundText: formatBound, exchanges },
    });
    return [{ api, destination, exchanges, examination, close }];
  });
}
