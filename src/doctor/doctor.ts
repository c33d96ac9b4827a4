import type { ServiceName } from '../contract/poll-result.ts';
import type { Variant } from '../contract/variant.ts';
import type { Clock } from '../runtime/clock.ts';
import type { Exchange } from '../transport/json-client.ts';
import { type CountedUnexpected, checkExchanges, type RequestLimits } from './exchange-checks.ts';
import type { Finding, ReportFinding } from './finding.ts';
import { checkNetwork, type Destination, type Network } from './network.ts';
import type { ServiceAnswers, ServiceCheck } from './service-check.ts';

interface ServiceToCheck {
  readonly api: ServiceName;
  readonly destination: Destination;
  readonly examination: ServiceCheck;
  readonly exchanges: readonly Exchange[];
}

export interface CheckedService extends ServiceToCheck {
  readonly variants: readonly Variant[];
  readonly unexpected: readonly CountedUnexpected[];
}

export interface DoctorResult {
  readonly findings: readonly Finding[];
  readonly services: readonly CheckedService[];
}

export interface DoctorDependencies {
  readonly patients: readonly ServiceToCheck[];
  /** Compares the names and ids of the services; called after all have answered. */
  readonly compare: (answers: ReadonlyMap<ServiceName, ServiceAnswers>, find: ReportFinding) => void;
  readonly allowance: RequestLimits;
  readonly network: Network;
  readonly clock: Clock;
}

/** Examines one service after the other. Rejects only when the doctor is stopped. */
export async function examineAll(
  { patients, compare, allowance, network, clock }: DoctorDependencies,
  signal: AbortSignal,
): Promise<DoctorResult> {
  const findings: Finding[] = [];
  const services: CheckedService[] = [];
  const answers = new Map<ServiceName, ServiceAnswers>();
  const about =
    (subject: string): ReportFinding =>
    (level, check, code, seen, more) => {
      findings.push({ subject, level, check, code, observed: seen, ...more });
    };
  for (const patient of patients) {
    const { api, destination, examination, exchanges } = patient;
    const find = about(api);
    const isReached = await checkNetwork(destination, network, allowance.timeoutMs, clock.now(), find);
    const answered = isReached ? await examination.run(find, signal) : undefined;
    if (answered !== undefined) answers.set(api, answered);
    const variants = answered?.variants ?? [];
    const unexpected = checkExchanges(exchanges, examination, allowance, find);
    services.push({ ...patient, variants: variants.map(({ question, answer }) => ({ question, answer })), unexpected });
    for (const { question, answer, advice } of variants) {
      const does = examination.questions[question]?.[answer] ?? 'read without conversion';
      const seen = `${answer.replaceAll('_', ' ')}: ${does}`;
      if (advice === undefined) find('ok', question, answer, seen);
      else find('warning', question, answer, seen, { advice });
    }
  }
  compare(answers, about('names'));
  return { findings, services };
}
