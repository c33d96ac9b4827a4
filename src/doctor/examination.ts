import type { Variant } from '../metrics/variant.ts';
import type { Exchange } from '../transport/exchange.ts';
import type { Documented } from './documented.ts';
import type { Find } from './finding.ts';

/** What the doctor does with one service. */
export interface Examination {
  /** Requests that it sends at most; shown before the first one leaves. */
  readonly requests: number;
  /** What an exchange was about, as the label `operation`. */
  readonly operationOf: (exchange: Exchange) => string;
  /** The documented answer of an operation, in the form that the body has; undefined where there is none to compare with. */
  readonly documented: (operation: string, body?: unknown) => Documented | undefined;
  /** What it can answer. */
  readonly questions: readonly Question[];
  /** The variable that bounds how often it is asked; missing where there is none. */
  readonly rateVariable?: string;
  /** Fields whose words are documented or safe to publish, as `mode`; the words of all others stay out of a report. */
  readonly wordFields: ReadonlySet<string>;
  /** Sends the requests, and finds what only this service can show. Rejects for nothing but an abort. */
  readonly run: (find: Find, signal: AbortSignal) => Promise<ServiceAnswers>;
}

/** Something that the documentation leaves open, and that an account can answer. */
export interface Question {
  readonly question: string;
  /** What is not known, as a sentence. */
  readonly asks: string;
  /** How the doctor tells. */
  readonly told: string;
  /** What the daemon does, by answer. */
  readonly answers: Readonly<Record<string, string>>;
}

/** What a service said of itself. */
export interface ServiceAnswers {
  /** The questions of the documentation that this account answers. */
  readonly variants: readonly Variant[];
  /** What both services name: each filer and each volume, with its id and its name. */
  readonly filers: readonly Named[];
  readonly volumes: readonly Named[];
}

/** A thing with an id of one service. */
export interface Named {
  readonly id: string;
  readonly name: string;
}
