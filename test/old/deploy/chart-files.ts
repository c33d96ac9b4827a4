import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';
import { alertRules } from '../../deploy/prometheus/groups.ts';
import { thresholdNames } from '../../deploy/prometheus/thresholds.ts';
import { variableRows } from '../../src/catalog.ts';
import type { Variable } from '../../src/config/schema.ts';
import { root } from '../support/program.ts';
import { withPart } from '../support/reference.ts';
import { chart } from './kubernetes/render.ts';

/* What of the chart is generated: the table of its README, and the names that `settings` takes. */

/** Variables that values of the chart stand for, or that the chart sets by itself. */
const SET_BY_THE_CHART: readonly string[] = [
  ...['GFA_URL', 'GFA_TOKEN', 'GFA_CLIENT_KEY', 'PORTAL_URL', 'PORTAL_SERVICE_KEY', 'PORTAL_SERVICE_SECRET'],
  ...['PORTAL_USER_KEY', 'PORTAL_RATE_LIMIT', 'PORTAL_DAILY_LIMIT', 'SHARD', 'TOTAL_SHARDS', 'STATE_FILE'],
  ...['LISTEN_ADDRESS', 'WEB_CONFIG_FILE'],
];

/** A duration as Prometheus takes it. */
const DURATION = '^([0-9]+(ms|[smhdwy]))+$';

/** A number, or its text: `helm --set` reads every number with a point as text. */
const NUMBER = { type: ['number', 'string'], pattern: String.raw`^-?\d+(\.\d+)?$` };

/**
 * The schema of the values, in which `settings` takes every variable of the exporter that has no value of its own, and
 * `prometheusRule` every alert and threshold.
 */
export function valuesSchema(): string {
  const schema = JSON.parse(readFileSync(join(chart, 'values.schema.json'), 'utf8'));
  const free = variableRows.filter(({ name }) => !SET_BY_THE_CHART.includes(name));
  schema.properties.settings.properties = Object.fromEntries(free.map(({ name, row }) => [name, schemaOf(row)]));
  const rule = schema.properties.prometheusRule.properties;
  const alerts = alertRules.map(({ alert }) => alert);
  rule.disabled.items = { enum: alerts };
  rule.for.properties = Object.fromEntries(alerts.map((alert) => [alert, { type: 'string', pattern: DURATION }]));
  rule.thresholds.properties = Object.fromEntries(thresholdNames.map((name) => [name, NUMBER]));
  return formatted('values.schema.json', JSON.stringify(schema, null, 2));
}

/** What a value of `settings` has to look like. YAML has numbers and booleans, where the environment has only texts. */
function schemaOf({ type, enum: words, format }: Variable): object {
  if (type === 'boolean') return { enum: [true, false, 'true', 'false'] };
  if (words !== undefined) return { enum: words };
  if (format?.label.startsWith('duration')) return { type: 'string', pattern: DURATION };
  if (format?.label === 'number') return { type: ['integer', 'string'], pattern: '^[0-9]+$' };
  return { type: ['string', 'number', 'boolean'] };
}

/** The text as the formatter would have it. */
function formatted(name: string, text: string): string {
  const biome = join(root, 'node_modules', '.bin', 'biome');
  return execFileSync(biome, ['format', `--stdin-file-path=${name}`], { input: text, encoding: 'utf8', cwd: root });
}

/** One value of the chart: where it is, what stands above it, and its default. */
export interface Value {
  readonly path: string;
  readonly help: string;
  readonly default: unknown;
}

/**
 * The values with the comment above each. A map whose entries have comments is no value itself; one whose entries have
 * none is one value.
 */
export function valuesOf(text: string): readonly Value[] {
  const found: Value[] = [];
  const trail: { readonly indent: number; readonly key: string }[] = [];
  let comment: string[] = [];
  for (const line of text.split('\n')) {
    const [, blank = '', said] = /^( *)# ?(.*)$/.exec(line) ?? [];
    const [, indent = '', key] = /^( *)([A-Za-z]\w*):/.exec(line) ?? [];
    if (said !== undefined) comment.push(said);
    else if (key !== undefined) {
      while ((trail.at(-1)?.indent ?? -1) >= indent.length) trail.pop();
      trail.push({ indent: indent.length, key });
      const path = trail.map((step) => step.key).join('.');
      if (comment.length > 0) found.push({ path, help: comment.join(' '), default: valueAt(text, path) });
      comment = [];
    } else if (blank === '') comment = [];
  }
  return found.filter(({ path }) => !found.some((other) => other.path.startsWith(`${path}.`)));
}

function valueAt(text: string, path: string): unknown {
  let value: unknown = parse(text);
  for (const key of path.split('.')) value = (value as Readonly<Record<string, unknown>>)[key];
  return value;
}

/** The README of the chart. */
export function chartReadme(): string {
  const values = valuesOf(readFileSync(join(chart, 'values.yaml'), 'utf8'));
  const rowsOfTable = values.map(({ path, help, default: value }) => {
    const escaped = help.replaceAll('|', '\\|');
    return `| \`${path}\` | \`${JSON.stringify(value)}\` | ${escaped} |`;
  });
  const readme = readFileSync(join(chart, 'README.md'), 'utf8');
  return withPart(readme, 'values', `| value | default | meaning |\n|---|---|---|\n${rowsOfTable.join('\n')}\n`);
}
