import type { thresholds } from './thresholds.ts';

/** Something that Prometheus works out beforehand, named level:metric:operation. */
export interface RecordingRule {
  readonly record: `${string}:${string}:${string}`;
  readonly expr: string;
}

/** How soon somebody has to look: now, in working hours, or when there is time. */
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

/** What alerts compare with. */
export type Thresholds = { readonly [name in keyof typeof thresholds]: number };

/** Seconds as people write them, for descriptions: `30m`, `2h`, `50ms`. */
export function spell(seconds: number): string {
  if (seconds < 1) return `${Math.round(seconds * 1000)}ms`;
  for (const [unit, size] of [
    ['d', 86_400],
    ['h', 3_600],
    ['m', 60],
  ] as const) {
    if (seconds % size === 0) return `${seconds / size}${unit}`;
  }
  return `${seconds}s`;
}

/** A ratio as people write it, for descriptions: `95%`. */
export function percent(ratio: number): string {
  return `${Number((ratio * 100).toFixed(2))}%`;
}
