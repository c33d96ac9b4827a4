import type { Explain } from '../contract/causes.ts';
import type { ServiceName } from '../contract/poll-result.ts';
import type { Exchange } from '../transport/json-client.ts';
import { checkExchanges, type RequestLimits } from './exchange-checks.ts';
import type { Finding, ReportFinding } from './finding.ts';
import type { CheckResult, ServiceCheck } from './service-check.ts';

interface CheckedService {
  readonly api: ServiceName;
  readonly check: ServiceCheck;
  /** Every request of the check and its response, once the check has run. */
  readonly exchanges: readonly Exchange[];
  readonly explain: Explain;
}

export interface DoctorDependencies {
  readonly services: readonly CheckedService[];
  /** Compares the names and ids of the services; called after all are checked. */
  readonly compare: (results: ReadonlyMap<ServiceName, CheckResult>, reportFinding: ReportFinding) => void;
  readonly limits: RequestLimits;
}

/** Checks one service after the other. Rejects only when the doctor is stopped. */
export async function checkServices(
  { services, compare, limits }: DoctorDependencies,
  signal: AbortSignal,
): Promise<readonly Finding[]> {
  const findings: Finding[] = [];
  const results = new Map<ServiceName, CheckResult>();
  const about =
    (subject: string): ReportFinding =>
    (level, check, code, observed, more) => {
      findings.push({ subject, level, check, code, observed, ...more });
    };
  for (const { api, check, exchanges, explain } of services) {
    const reportFinding = about(api);
    const result = await check.run(reportFinding, signal);
    results.set(api, result);
    checkExchanges(exchanges, { explain, ...limits }, reportFinding);
    for (const { question, answer, advice } of result.answers) {
      const reading = check.questions[question]?.[answer] ?? 'read without conversion';
      const observed = `${answer.replaceAll('_', ' ')}: ${reading}`;
      if (advice === undefined) reportFinding('ok', question, answer, observed);
      else reportFinding('warning', question, answer, observed, { advice });
    }
  }
  compare(results, about('names'));
  return findings;
}
