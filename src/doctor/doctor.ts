import type { Api } from '../metrics/snapshot.ts';
import type { Variant } from '../metrics/variant.ts';
import type { Clock } from '../runtime/clock.ts';
import type { Exchange } from '../transport/exchange.ts';
import type { Examination, ServiceAnswers } from './examination.ts';
import type { Find, Finding } from './finding.ts';
import { type Allowance, type CountedUnexpected, judgeExchanges } from './judge.ts';
import { checkNetwork, type Destination, type Network } from './network.ts';

/** One service that is to be examined. */
export interface Patient {
  readonly api: Api;
  readonly destination: Destination;
  readonly examination: Examination;
  /** What is exchanged with it. */
  readonly exchanges: readonly Exchange[];
}

/** The findings about one service. */
export interface Diagnosis {
  readonly api: Api;
  readonly examination: Examination;
  readonly variants: readonly Variant[];
  readonly unexpected: readonly CountedUnexpected[];
  readonly exchanges: readonly Exchange[];
}

/** All findings, in order. */
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
export async function examineAll(parts: DoctorParts, signal: AbortSignal): Promise<Diagnoses> {
  const findings: Finding[] = [];
  const services: Diagnosis[] = [];
  const answers = new Map<Api, ServiceAnswers>();
  for (const patient of parts.patients) {
    const { api } = patient;
    const find: Find = (finding) => findings.push({ subject: api, ...finding });
    const { answered, diagnosis } = await examineOne(patient, parts, find, signal);
    if (answered !== undefined) answers.set(api, answered);
    services.push(diagnosis);
  }
  parts.compare(answers, (finding) => findings.push({ subject: 'names', ...finding }));
  return { findings, services };
}

async function examineOne(
  { api, destination, examination, exchanges }: Patient,
  { allowance, network, clock }: DoctorParts,
  find: Find,
  signal: AbortSignal,
): Promise<{ readonly answered: ServiceAnswers | undefined; readonly diagnosis: Diagnosis }> {
  const isReached = await checkNetwork(destination, network, allowance.timeoutMs, clock.now(), find);
  const answered = isReached ? await examination.run(find, signal) : undefined;
  const unexpected = judgeExchanges(exchanges, examination, allowance, find);
  const variants = answered?.variants ?? [];
  for (const { question, answer } of variants) {
    const effect =
      examination.questions.find((one) => one.question === question)?.answers[answer] ?? 'read without conversion';
    find({ level: 'ok', check: question, code: answer, seen: `${answer.replaceAll('_', ' ')}: ${effect}` });
  }
  return { answered, diagnosis: { api, examination, variants, unexpected, exchanges } };
}
