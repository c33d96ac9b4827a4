import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';
import { rows } from '../../src/config/variables.ts';
import { root } from '../support/program.ts';
import { chart } from './kubernetes/render.ts';

/* What of the chart is generated: the table of its README, the names that `settings` takes, and copies of files. */

/** Variables that values of the chart stand for, or that the chart sets by itself. */
const SET_BY_THE_CHART: readonly string[] = [
  ...['GFA_URL', 'GFA_TOKEN', 'GFA_CLIENT_KEY', 'PORTAL_URL', 'PORTAL_SERVICE_KEY', 'PORTAL_SERVICE_SECRET'],
  ...['PORTAL_USER_KEY', 'PORTAL_RATE_LIMIT', 'PORTAL_DAILY_LIMIT', 'SHARD', 'TOTAL_SHARDS', 'STATE_FILE'],
  ...['LISTEN_ADDRESS', 'WEB_CONFIG_FILE'],
];

/** The schema of the values, in which `settings` takes every variable of the exporter that has no value of its own. */
export function valuesSchema(): string {
  const schema = JSON.parse(readFileSync(join(chart, 'values.schema.json'), 'utf8'));
  const free = rows.filter(({ name }) => !SET_BY_THE_CHART.includes(name));
  schema.properties.settings.properties = Object.fromEntries(
    free.map(({ name }) => [name, { type: ['string', 'number', 'boolean'] }]),
  );
  return formatted('values.schema.json', JSON.stringify(schema, null, 2));
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
  const [before = '', after = ''] = readFileSync(join(chart, 'README.md'), 'utf8').split(TABLE);
  return `${before}${BEGIN}\n\n| value | default | meaning |\n|---|---|---|\n${rowsOfTable.join('\n')}\n\n${END}${after}`;
}

const BEGIN = '<!-- values:begin -->';
const END = '<!-- values:end -->';
const TABLE = new RegExp(`${BEGIN}[\\s\\S]*${END}`);

/** A file of the chart that is a copy, for Helm reads nothing outside of the chart's folder. */
export interface Copy {
  /** Below the top of the repository. */
  readonly source: string;
  /** Below the chart's folder. */
  readonly copy: string;
  readonly text: string;
}

/** Every rule file and every dashboard, with where its copy belongs. */
export function copies(): readonly Copy[] {
  return [
    ...copiesOf('deploy/prometheus/rules', /\.ya?ml$/, 'files/rules'),
    ...copiesOf('grafana/dashboards', /\.json$/, 'files/dashboards'),
  ];
}

function copiesOf(folder: string, what: RegExp, into: string): readonly Copy[] {
  return namesIn(join(root, folder))
    .filter((name) => what.test(name))
    .map((name) => ({
      source: `${folder}/${name}`,
      copy: `${into}/${name}`,
      text: readFileSync(join(root, folder, name), 'utf8'),
    }));
}

/** The names in a folder; none where there is no such folder. */
export function namesIn(folder: string): readonly string[] {
  return existsSync(folder) ? readdirSync(folder) : [];
}
