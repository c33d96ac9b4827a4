import type { Explain } from '../contract/causes.ts';
import type { ServiceName } from '../contract/poll-result.ts';
import type { Exchange } from '../transport/json-client.ts';
import { type CountedUnexpected, checkExchanges, type RequestLimits } from './exchange-checks.ts';
import type { Finding, ReportFinding } from './finding.ts';
import type { Answer, CheckResult, ServiceCheck } from './service-check.ts';

interface ServiceToCheck {
  readonly api: ServiceName;
  readonly check: ServiceCheck;
  readonly exchanges: readonly Exchange[];
  readonly explain: Explain;
}

export interface CheckedService extends ServiceToCheck {
  readonly answers: readonly Answer[];
  readonly unexpected: readonly CountedUnexpected[];
}

export interface DoctorResult {
  readonly findings: readonly Finding[];
  readonly services: readonly CheckedService[];
}

export interface DoctorDependencies {
  readonly services: readonly ServiceToCheck[];
  /** Compares the names and ids of the services; called after all are checked. */
  readonly compare: (results: ReadonlyMap<ServiceName, CheckResult>, reportFinding: ReportFinding) => void;
  readonly limits: RequestLimits;
}

/** Checks one service after the other. Rejects only when the doctor is stopped. */
export async function checkServices(
  { services, compare, limits }: DoctorDependencies,
  signal: AbortSignal,
): Promise<DoctorResult> {
  const findings: Finding[] = [];
  const checked: CheckedService[] = [];
  const results = new Map<ServiceName, CheckResult>();
  const about =
    (subject: string): ReportFinding =>
    (level, check, code, observed, more) => {
      findings.push({ subject, level, check, code, observed, ...more });
    };
  for (const service of services) {
    const { api, check, exchanges, explain } = service;
    const reportFinding = about(api);
    const result = await check.run(reportFinding, signal);
    results.set(api, result);
    const { answers } = result;
    const expected = { documented: check.documented, explain, ...limits };
    const unexpected = checkExchanges(exchanges, expected, reportFinding);
    checked.push({ ...service, answers: answers.map(({ question, answer }) => ({ question, answer })), unexpected });
    for (const { question, answer, advice } of answers) {
      const reading = check.questions[question]?.[answer] ?? 'read without conversion';
      const observed = `${answer.replaceAll('_', ' ')}: ${reading}`;
      if (advice === undefined) reportFinding('ok', question, answer, observed);
      else reportFinding('warning', question, answer, observed, { advice });
    }
  }
  compare(results, about('names'));
  return { findings, services: checked };
}
