import { asError } from '../runtime/errors.ts';
import type { ReportFinding } from './finding.ts';

export interface ServiceCheck {
  /** The most requests that it sends; printed before the first one. */
  readonly requests: number;
  /** Sends the requests and reports findings that only this service can show. Rejects only on an abort. */
  readonly run: (reportFinding: ReportFinding, signal: AbortSignal) => Promise<NamesOfService>;
}

/** What both services name: each filer and each volume, with its id and its name. */
export interface NamesOfService {
  readonly filers: readonly Named[];
  readonly volumes: readonly Named[];
}

export interface Named {
  readonly id: string;
  readonly name: string;
}

/** What came of a request: either a result or an error. */
export interface Outcome<Result> {
  readonly result?: Result;
  readonly error?: Error;
}

/** Rejects only on an abort. */
export async function outcomeOf<Result>(request: Promise<Result>, signal: AbortSignal): Promise<Outcome<Result>> {
  try {
    return { result: await request };
  } catch (thrown) {
    if (signal.aborted) throw thrown;
    return { error: asError(thrown) };
  }
}

/** How the exporter reads each answer to a question that the documentation of a service leaves open, such as `time_unit`. */
export type Readings = Readonly<Record<string, Readonly<Record<string, string>>>>;

/** The alternative that an account uses, such as `milliseconds`, by question; undefined where it does not show that. */
export type Answers = Readonly<Record<string, string | undefined>>;

/** `advice`: what to do if the exporter assumes another answer. */
export function reportAnswers(
  readings: Readings,
  answers: Answers,
  reportFinding: ReportFinding,
  advice?: string,
): void {
  for (const [question, answer] of Object.entries(answers)) {
    if (answer === undefined) continue;
    const observed = `${answer.replaceAll('_', ' ')}: ${readings[question]?.[answer]}`;
    reportFinding(advice === undefined ? 'ok' : 'warning', question, answer, observed, advice ? { advice } : {});
  }
}
