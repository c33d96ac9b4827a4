import type { Labels, MetricType } from '../metrics/family.ts';
import { shortenLabel } from '../metrics/label-value.ts';

/** Prometheus text 0.0.4 or OpenMetrics 1.0.0. */
export type Format = 'text' | 'openmetrics';

export interface FamilyHeader {
  readonly name: string;
  readonly help: string;
  readonly type: MetricType | 'summary';
  /** The base unit if the name ends in it; OpenMetrics has a line for it. */
  readonly unit?: string | undefined;
}

/** How often samples could not be written unchanged. */
export interface Corrections {
  /** Label values shortened by {@link shortenLabel}. */
  cut: number;
  /** Samples dropped because a later one of the same task had the same name and labels. */
  duplicates: number;
}

/** A number in both formats: the shortest text that parses to the same double. */
export function formatValue(value: number): string {
  if (value === Number.POSITIVE_INFINITY) return '+Inf';
  if (value === Number.NEGATIVE_INFINITY) return '-Inf';
  if (value === 0) return Object.is(value, -0) ? '-0' : '0';
  return String(value);
}

/** HELP, TYPE and, in OpenMetrics, UNIT. There a counter's family has no `_total`, only its samples have. */
export function headerLines(family: FamilyHeader, format: Format): string {
  if (format === 'text') {
    const help = family.help.replaceAll('\\', '\\\\').replaceAll('\n', '\\n');
    return `# HELP ${family.name} ${help}\n# TYPE ${family.name} ${family.type}\n`;
  }
  const name = family.type === 'counter' ? family.name.replace(/_total$/, '') : family.name;
  const unit = family.unit !== undefined && name.endsWith(`_${family.unit}`) ? `# UNIT ${name} ${family.unit}\n` : '';
  return `# HELP ${name} ${escapeText(family.help)}\n# TYPE ${name} ${family.type}\n${unit}`;
}

/** `{a="1",b="2"}`, or an empty text without labels; each value by {@link escapeLabelValue}. */
export function formatLabels(labels: Labels, corrected: Corrections = { cut: 0, duplicates: 0 }): string {
  let text = '';
  for (const name in labels) {
    text += `${text === '' ? '{' : ','}${name}="${escapeLabelValue(labels[name] ?? '', corrected)}"`;
  }
  return text === '' ? '' : `${text}}`;
}

const NEEDS_ESCAPE = /[\\"\n]/;

/** A label value for use between quotes: by {@link shortenLabel}, and escaped. */
export function escapeLabelValue(value: string, corrected: Corrections): string {
  const text = shortenLabel(value, () => {
    corrected.cut += 1;
  });
  return NEEDS_ESCAPE.test(text) ? escapeText(text) : text;
}

function escapeText(text: string): string {
  return text.replaceAll('\\', '\\\\').replaceAll('"', '\\"').replaceAll('\n', '\\n');
}
