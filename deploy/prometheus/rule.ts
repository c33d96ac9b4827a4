import type { ThresholdName } from './thresholds.ts';

/** Something that Prometheus works out beforehand, named level:metric:operation. */
export interface RecordingRule {
  readonly record: `${string}:${string}:${string}`;
  readonly expr: string;
}

/** How soon a person has to look: now, in working hours, or when there is time. */
export type Severity = 'critical' | 'warning' | 'info';

/** A page of `docs/runbooks/`, each with a section for each of its alerts. */
export type RunbookPage = 'exporter' | 'file-acceleration' | 'appliances' | 'portal';

/** One alert; its runbook is the section of that name on its page. */
export interface AlertRule {
  readonly alert: `Filer${string}`;
  readonly severity: Severity;
  /** How long it has to hold; a Prometheus duration. */
  readonly for: string;
  readonly expr: string;
  /** One line that says who and how bad, as a template of Prometheus. */
  readonly summary: string;
  /** What follows from it, as a template of Prometheus. */
  readonly description: string;
  readonly page: RunbookPage;
}

/** What alerts compare with: numbers, or what stands for them until they are known. */
export type Thresholds = { readonly [name in ThresholdName]: number | string };

/** Seconds in words, for descriptions. Prometheus writes them, so the number is the same as in the expression. */
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
