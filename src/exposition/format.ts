import type { Labels, MetricType } from '../metrics/family.ts';
import { shortenLabel } from '../metrics/label-value.ts';

/** Prometheus text 0.0.4 or OpenMetrics 1.0.0. */
export type Format = 'text' | 'openmetrics';

export interface FamilyHeader {
  readonly name: string;
  readonly help: string;
  readonly type: MetricType | 'summary';
  /** The base unit if the name ends in it, for the UNIT line of OpenMetrics. */
  readonly unit?: string | undefined;
}

/** The body of a response, whose length is known before the first byte is sent. */
export interface ResponseBody {
  readonly length: number;
  /** The buffers in order. They may be created while they are sent. */
  buffers(): Iterable<Buffer>;
}

/** Counts the samples that were not written unchanged. */
export interface Corrections {
  /** Label values that {@link shortenLabel} shortened. */
  cut: number;
  /** Samples that were dropped because a later sample of the task had the same name and labels. */
  duplicates: number;
}

/** Writes a number for both formats: as the shortest string that parses to the same double. */
export function formatValue(value: number): string {
  if (value === Number.POSITIVE_INFINITY) return '+Inf';
  if (value === Number.NEGATIVE_INFINITY) return '-Inf';
  if (value === 0) return Object.is(value, -0) ? '-0' : '0';
  return String(value);
}

/** Writes HELP, TYPE and, in OpenMetrics, UNIT. In OpenMetrics only the samples of a counter end in `_total`, not its family. */
export function headerLines(family: FamilyHeader, format: Format): string {
  if (format === 'text') {
    const help = family.help.replaceAll('\\', '\\\\').replaceAll('\n', '\\n');
    return `# HELP ${family.name} ${help}\n# TYPE ${family.name} ${family.type}\n`;
  }
  const name = family.type === 'counter' ? family.name.replace(/_total$/, '') : family.name;
  const unit = family.unit !== undefined && name.endsWith(`_${family.unit}`) ? `# UNIT ${name} ${family.unit}\n` : '';
  return `# HELP ${name} ${escapeText(family.help)}\n# TYPE ${name} ${family.type}\n${unit}`;
}

/** Writes `{a="1",b="2"}`, or an empty string without labels. */
export function formatLabels(labels: Labels, corrected: Corrections = { cut: 0, duplicates: 0 }): string {
  let text = '';
  for (const name in labels) {
    text += `${text === '' ? '{' : ','}${name}="${escapeLabelValue(labels[name] ?? '', corrected)}"`;
  }
  return text === '' ? '' : `${text}}`;
}

const NEEDS_ESCAPE = /[\\"\n]/;

/** Shortens a label value if it is too long, and escapes it for use between quotes. */
export function escapeLabelValue(value: string, corrected: Corrections): string {
  const text = shortenLabel(value, () => {
    corrected.cut += 1;
  });
  return NEEDS_ESCAPE.test(text) ? escapeText(text) : text;
}

function escapeText(text: string): string {
  return text.replaceAll('\\', '\\\\').replaceAll('"', '\\"').replaceAll('\n', '\\n');
}
