import type { Api } from '../metrics/snapshot.ts';
import type { Variant } from '../metrics/variant.ts';
import type { Clock } from '../runtime/clock.ts';
import type { Exchange } from '../transport/client.ts';
import type { Examination, ServiceAnswers } from './examination.ts';
import type { Find, Finding } from './finding.ts';
import { type Allowance, type CountedUnexpected, judgeExchanges } from './judge.ts';
import { checkNetwork, type Destination, type Network } from './network.ts';

interface Patient {
  readonly api: Api;
  readonly destination: Destination;
  readonly examination: Examination;
  readonly exchanges: readonly Exchange[];
}

export interface Diagnosis extends Patient {
  readonly variants: readonly Variant[];
  readonly unexpected: readonly CountedUnexpected[];
}

export interface Diagnoses {
  readonly findings: readonly Finding[];
  readonly services: readonly Diagnosis[];
}

export interface DoctorParts {
  readonly patients: readonly Patient[];
  /** Compares the names and ids of the services; called after all have answered. */
  readonly compare: (answers: ReadonlyMap<Api, ServiceAnswers>, find: Find) => void;
  readonly allowance: Allowance;
  readonly network: Network;
  readonly clock: Clock;
}

/** Examines one service after the other. Rejects only when the doctor is stopped. */
export async function examineAll(
  { patients, compare, allowance, network, clock }: DoctorParts,
  signal: AbortSignal,
): Promise<Diagnoses> {
  const findings: Finding[] = [];
  const services: Diagnosis[] = [];
  const answers = new Map<Api, ServiceAnswers>();
  const about =
    (subject: string): Find =>
    (level, check, code, seen, more) => {
      findings.push({ subject, level, check, code, seen, ...more });
    };
  for (const patient of patients) {
    const { api, destination, examination, exchanges } = patient;
    const find = about(api);
    const isReached = await checkNetwork(destination, network, allowance.timeoutMs, clock.now(), find);
    const answered = isReached ? await examination.run(find, signal) : undefined;
    if (answered !== undefined) answers.set(api, answered);
    const variants = answered?.variants ?? [];
    const unexpected = judgeExchanges(exchanges, examination, allowance, find);
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
