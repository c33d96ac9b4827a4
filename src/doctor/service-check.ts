import type { Variant } from '../contract/variant.ts';
import type { ReportFinding } from './finding.ts';
import type { Schema } from './schema.ts';

export interface ServiceCheck {
  /** The most requests that it sends; printed before the first one. */
  readonly requests: number;
  /** The documented response of an operation, in the form that the body has; undefined if there is none. */
  readonly documented: (operation: string, body?: unknown) => Schema | undefined;
  readonly questions: Questions;
  /**
   * Fields whose words are documented or safe to publish, such as `mode`; a report contains no words of other fields.
   */
  readonly wordFields: ReadonlySet<string>;
  /** Sends the requests and reports findings that only this service can show. Rejects only on an abort. */
  readonly run: (reportFinding: ReportFinding, signal: AbortSignal) => Promise<CheckResult>;
}

/** How the exporter reads each answer to a question that the documentation leaves open. `docs/doctor.md` lists them. */
export type Questions = Readonly<Record<string, Readonly<Record<string, string>>>>;

export interface CheckResult {
  /** The open questions that this account answers; `advice`: what to do if the exporter assumes another answer. */
  readonly variants: readonly (Variant & { readonly advice?: string })[];
  /** What both services name: each filer and each volume, with its id and its name. */
  readonly filers: readonly Named[];
  readonly volumes: readonly Named[];
}

export interface Named {
  readonly id: string;
  readonly name: string;
}
