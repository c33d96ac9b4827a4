import { isLoopback } from '../config/addresses.ts';
import type { Config } from '../config/config.ts';
import { proxyFor } from '../config/no-proxy.ts';
import { type Diagnoses, type DoctorParts, examineAll } from '../doctor/doctor.ts';
import type { Examination } from '../doctor/examination.ts';
import { type Network, systemNetwork } from '../doctor/network.ts';
import { type Report, reportOf } from '../doctor/report.ts';
import { formatBound } from '../exposition/format.ts';
import type { Api } from '../metrics/snapshot.ts';
import { unpredictableKey } from '../runtime/random.ts';
import { gfaSection } from '../sources/gfa/configuration.ts';
import { gfaExamination } from '../sources/gfa/examination.ts';
import { portalSection } from '../sources/portal/configuration.ts';
import { portalExamination } from '../sources/portal/examination.ts';
import { portalRequests } from '../sources/portal/requests.ts';
import { portalSettings } from '../sources/portal/upstream.ts';
import { compareNames } from '../sources/shared-names.ts';
import type { RequestObserver } from '../transport/client.ts';
import { createDispatcher } from '../transport/dispatcher.ts';
import { type Exchange, recorded } from '../transport/exchange.ts';
import type { Outside } from './environment.ts';
import { politeClient } from './polite-client.ts';

/** Few requests, so they may follow each other quickly: ten in any second. */
const PACE = { limit: { requests: 300, windowMs: 30_000 }, mostPerMs: 10 / 1_000 } as const;

const quiet: RequestObserver = { started: () => {}, ended: () => {}, throttled: () => {} };

/** The doctor for a configuration, built and not yet at work. */
export interface Doctor {
  /** Requests that it sends at most. */
  readonly requests: number;
  /** Examines every service that is configured. Rejects only when it is being stopped. */
  run(signal: AbortSignal): Promise<Diagnoses>;
  /** What was found, safe to attach to a public issue. */
  report(found: Diagnoses): Report;
  close(): Promise<void>;
}

/** Builds the doctor from the configuration of the daemon. */
export function createDoctor(config: Config, outside: Outside, network: Network = systemNetwork): Doctor {
  const { clock, log, connect = createDispatcher } = outside;
  const exchanges = new Map<Api, Exchange[]>([
    ['gfa', []],
    ['portal', []],
  ]);
  const closing: (() => Promise<void>)[] = [];
  const clientOf = (api: Api, baseUrl: string, dailyLimit: number | undefined) => {
    const listening: Outside = {
      ...outside,
      connect: (...args) => recorded(connect(...args), clock, (exchange) => exchanges.get(api)?.push(exchange)),
    };
    const allowed = api === 'portal' ? portalRequests : [];
    const target = { api, baseUrl, dailyLimit, allowed, concurrency: 1, ...PACE };
    const { client, close } = politeClient(target, config, { requestsOf: () => quiet }, listening);
    closing.push(close);
    return {
      client,
      destination: { url: baseUrl, isLocal: isLoopback(baseUrl), proxy: proxyFor(baseUrl, config.requests.proxy) },
    };
  };
  const gfa = gfaSection.of(config);
  const portal = portalSection.of(config);
  const examinations: Examination[] = [];
  if (gfa !== undefined)
    examinations.push(gfaExamination({ ...clientOf('gfa', gfa.url, undefined), settings: gfa, clock }));
  if (portal !== undefined) {
    examinations.push(
      portalExamination({
        ...clientOf('portal', portal.url, portal.dailyLimit),
        ...{
          settings: portalSettings(config, portal, formatBound),
          credentials: portal.credentials,
          patience: outside,
          log,
        },
        exchanges: () => exchanges.get('portal') ?? [],
      }),
    );
  }
  const parts: DoctorParts = {
    examinations,
    exchangesWith: (api) => exchanges.get(api) ?? [],
    compare: (answers, find) =>
      compareNames({ accelerator: answers.get('gfa'), portal: answers.get('portal') }, config.filerAliases, find),
    allowance: config.requests,
    ...{ network, clock },
  };
  return {
    requests: examinations.reduce((sum, { requests }) => sum + requests, 0),
    run: (signal) => examineAll(parts, signal),
    report: (found) => reportOf(found, outside.version, unpredictableKey()),
    close: async () => {
      for (const close of closing) await close();
    },
  };
}
