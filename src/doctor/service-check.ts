import type { ReportFinding } from './finding.ts';

export interface ServiceCheck {
  /** The most requests that it sends; printed before the first one. */
  readonly requests: number;
  readonly questions: Questions;
  /** Sends the requests and reports findings that only this service can show. Rejects only on an abort. */
  readonly run: (reportFinding: ReportFinding, signal: AbortSignal) => Promise<CheckResult>;
}

/** How the exporter reads each answer to a question that the documentation leaves open. */
export type Questions = Readonly<Record<string, Readonly<Record<string, string>>>>;

/** The alternative that a service uses where its documentation is open. */
export interface Answer {
  /** The open question, such as `time_unit`. */
  readonly question: string;
  /** The observed alternative, such as `milliseconds`. */
  readonly answer: string;
  /** What to do if the exporter assumes another answer. */
  readonly advice?: string;
}

/** The questions that have an answer. */
export function answersTo(questions: Readonly<Record<string, string | undefined>>): readonly Answer[] {
  return Object.entries(questions).flatMap(([question, answer]) =>
    answer === undefined ? [] : [{ question, answer }],
  );
}

export interface CheckResult {
  /** The open questions that this account answers. */
  readonly answers: readonly Answer[];
  /** What both services name: each filer and each volume, with its id and its name. */
  readonly filers: readonly Named[];
  readonly volumes: readonly Named[];
}

export interface Named {
  readonly id: string;
  readonly name: string;
}
