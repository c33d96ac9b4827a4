import type { Labels, MetricType } from '../metrics/family.ts';

/** The two formats that a scraper can ask for: Prometheus text 0.0.4 and OpenMetrics 1.0.0. */
export type Format = 'text' | 'openmetrics';

/** What a family's header lines say. */
export interface FamilyHeader {
  readonly name: string;
  readonly help: string;
  readonly type: MetricType | 'summary';
  /** The base unit, where the name ends in it; OpenMetrics has a line for it. */
  readonly unit?: string | undefined;
}

/** The longest label value written; what is longer is cut and counted. Titles are people's text and have no limit upstream. */
export const LONGEST_LABEL = 1024;

/** How often lines could not be written as they came. */
export interface Mended {
  /** Label values cut at {@link LONGEST_LABEL} characters. */
  cut: number;
  /** Samples left out because a later one of the same task had the same name and labels. */
  duplicates: number;
}

/** A number as both formats write it: the shortest text that reads back as the same double. */
export function formatValue(value: number): string {
  if (value === Number.POSITIVE_INFINITY) return '+Inf';
  if (value === Number.NEGATIVE_INFINITY) return '-Inf';
  if (value === 0) return Object.is(value, -0) ? '-0' : '0';
  return String(value);
}

/** A bucket's bound in OpenMetrics' canonical form, `10.0` and not `10`: one series in both formats. */
export function formatBound(bound: number): string {
  const text = formatValue(bound);
  return /^-?\d+$/.test(text) ? `${text}.0` : text;
}

/** HELP, TYPE and, in OpenMetrics, UNIT. A counter's family is called without `_total` there, its samples with it. */
export function headerLines(family: FamilyHeader, format: Format): string {
  if (format === 'text') {
    const help = family.help.replaceAll('\\', '\\\\').replaceAll('\n', '\\n');
    return `# HELP ${family.name} ${help}\n# TYPE ${family.name} ${family.type}\n`;
  }
  const name = family.type === 'counter' ? family.name.replace(/_total$/, '') : family.name;
  const unit = family.unit !== undefined && name.endsWith(`_${family.unit}`) ? `# UNIT ${name} ${family.unit}\n` : '';
  return `# HELP ${name} ${escapeText(family.help)}\n# TYPE ${name} ${family.type}\n${unit}`;
}

/** `{a="1",b="2"}`, or nothing without labels. Values are escaped; see {@link cleanLabel} for what is mended. */
export function labelText(labels: Labels, mended: Mended): string {
  let text = '';
  for (const name in labels) {
    text += `${text === '' ? '{' : ','}${name}="${cleanLabel(labels[name] ?? '', mended)}"`;
  }
  return text === '' ? '' : `${text}}`;
}

const NEEDS_CARE = /[\\"\n\0\ud800-\udfff]/;

/**
 * A label value ready to stand between quotes: cut at 1,024 characters, escaped, valid UTF-8 (half a surrogate pair
 * becomes U+FFFD, as does NUL, which ends the input of Prometheus' text parser).
 */
export function cleanLabel(value: string, mended: Mended): string {
  let text = value;
  if (text.length > LONGEST_LABEL) {
    // Twice as many units hold them, whatever they are, and one more tells whether there is more.
    const characters = Array.from(text.slice(0, 2 * LONGEST_LABEL + 1));
    if (characters.length > LONGEST_LABEL) {
      text = characters.slice(0, LONGEST_LABEL).join('');
      mended.cut += 1;
    }
  }
  return NEEDS_CARE.test(text) ? escapeText(text.toWellFormed().replaceAll('\0', '\ufffd')) : text;
}

function escapeText(text: string): string {
  return text.replaceAll('\\', '\\\\').replaceAll('"', '\\"').replaceAll('\n', '\\n');
}
