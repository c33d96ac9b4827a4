import type { ThresholdName } from './thresholds.ts';

/** A recording rule, named level:metric:operation. */
export interface RecordingRule {
  readonly record: `${string}:${string}:${string}`;
  readonly expr: string;
}

/** How soon a person has to act: now, or in working hours. */
export type Severity = 'critical' | 'warning';

/** A page of `docs/runbooks/`, with a section for each of its alerts. */
export type RunbookPage = 'exporter' | 'file-acceleration' | 'appliances' | 'portal';

/** One alert; its runbook is the section of that name on its page. */
export interface AlertRule {
  readonly alert: `Filer${string}`;
  readonly severity: Severity;
  /** How long the condition has to hold; a Prometheus duration. */
  readonly for: string;
  readonly expr: string;
  /** For an alert about many filers, jobs or credentials: a query for how many it is about, for each account. */
  readonly count?: string;
  /** What is wrong. It has no labels, because one message may be about several alerts of this name and begins with it. */
  readonly summary: string;
  /** The subject, the extent and the consequence, as a template of Prometheus. */
  readonly description: string;
  readonly page: RunbookPage;
}

/** The numbers in the conditions of alerts, or the placeholders for them. */
export type Thresholds = { readonly [name in ThresholdName]: number | string };

/** Seconds in words, for descriptions. Prometheus formats them, so the number equals the one in the expression. */
export function spell(seconds: number | string): string {
  return `{{ ${seconds} | humanizeDuration }}`;
}

/** A ratio as a percentage, for descriptions. */
export function percent(ratio: number | string): string {
  return `{{ ${ratio} | humanizePercentage }}`;
}

/** A number of bytes, for descriptions. */
export function bytes(count: number | string): string {
  return `{{ ${count} | humanize }}B`;
}

/** The operator and value of a matcher for one word, or for alternatives with `|` between them. */
export function matching(words: string): string {
  return `${/^\w+$/.test(words) ? '=' : '=~'}"${words}"`;
}
