import { type CatalogEntry, catalog, variableRows } from '../../src/catalog.ts';
import { labelOf, type NamedVariable } from '../../src/config/schema.ts';
import { isSecret } from '../../src/config/section.ts';
import { enumLabelValue } from '../../src/metrics/samples.ts';
import {
  ADDITIONAL_SERIES,
  operationsFor,
  STANDARD_SERIES,
} from '../../src/services/portal/appliances/series-operations.ts';
import { exampleOf } from './examples.ts';
import { costOf, wordsOf } from './metric-facts.ts';
import { usageOf } from './usage.ts';
import { defaultOf } from './variables.ts';

/*
 * The generated parts of the documentation: all of docs/metrics.md, and the tables of docs/configuration.md.
 */

/** Metrics that come from one place. */
interface Group {
  readonly title: string;
  readonly intro: string;
  readonly entries: readonly CatalogEntry[];
}

/** docs/configuration.md with the generated tables between their markers. Throws when a marker is missing. */
export function configurationPage(page: string): string {
  return withPart(withPart(page, 'configuration', markdownTable(variableRows)), 'series', seriesTable());
}

/** A row for series with the same metrics, the standard ones first. */
function seriesTable(): string {
  const rows = new Map<string, string[]>();
  for (const [isStandard, names] of [
    ['yes', STANDARD_SERIES],
    ['no', ADDITIONAL_SERIES],
  ] as const) {
    for (const [name, { families }] of operationsFor(names)) {
      const [first] = families;
      const metrics = families.map((family) => `\`${family.name}\``).join(', ');
      const row = `${isStandard} | ${first?.help ?? ''} | ${metrics} |\n`;
      rows.set(row, [...(rows.get(row) ?? []), `\`${name}\``]);
    }
  }
  const lines = [...rows].map(([row, names]) => `| ${names.join(', ')} | ${row}`);
  return `| series | by default | what it measures | metrics |\n|---|---|---|---|\n${lines.join('')}`;
}

export function markdownTable(rows: readonly NamedVariable[]): string {
  const lines = rows.map(({ name, row }) => {
    const byDefault = row.default === undefined ? (row.unset ?? '') : `\`${row.default}\``;
    return `| \`${name}\`${isSecret(row) ? ' (file)' : ''} | ${labelOf(row)} | ${byDefault} | ${row.help} |\n`;
  });
  return `| variable | type | default | meaning |\n|---|---|---|---|\n${lines.join('')}`;
}

/** docs/metrics.md, whole. */
export function metricsReference(): string {
  const sections = groups().map(
    ({ title, intro, entries }) => `## ${title}\n\n${intro}\n\n${entries.map(metricSection).join('\n')}`,
  );
  return `# Metrics

<!-- Generated from the catalogue by \`npm run docs\`; do not edit. -->

All values are in base units: seconds, bytes, ratios from 0 to 1, Unix seconds. A field that is null, missing or
unreadable gives no sample, never a zero. A histogram has the usual \`_bucket\`, \`_sum\` and \`_count\` series. In addition to
the metrics below, \`/metrics\` has Node.js process metrics, named \`process_*\` and \`nodejs_*\`.

A value that a service chooses from a list is a label value in lower case with underscores. "Words" shows the documented values
in the spelling of the service, which may send others.

"From" names the service operation and its fields in the service's own spelling. "Series" is what a metric costs in
Prometheus: the number for each appliance, filer, volume or other subject; a histogram takes one for each of the
${bucketCount()} default buckets of \`EVENT_BUCKETS\`, the infinite one, the sum and the count. "Dashboards" and "Alerts" name what of
[grafana/](../grafana/README.md) and [deploy/prometheus/](../deploy/prometheus/README.md) uses it, directly or through
a recorded series. The query below each metric is an example.

${groups().map(indexOf).join('\n')}
${sections.join('\n')}`;
}

/** What each metric of a group answers, in a line. */
function indexOf({ title, entries }: Group): string {
  const lines = entries.map(({ name, help }) => `| ${firstSentence(help)} | [\`${name}\`](#${name}) |\n`);
  return `| ${title} | metric |\n|---|---|\n${lines.join('')}`;
}

function firstSentence(text: string): string {
  return text.split(/(?<=\.) (?=[A-Z0-9])/)[0] ?? text;
}

function bucketCount(): number {
  return defaultOf('EVENT_BUCKETS').split(',').length;
}

function groups(): readonly Group[] {
  const from = (wanted: (source: string) => boolean) => catalog.filter(({ source: [first = ''] }) => wanted(first));
  const isGfa = (source: string) => source.startsWith('GET /data');
  const isOwn = (source: string) => source === 'the exporter';
  return [
    {
      title: 'File acceleration telemetry service',
      intro: 'From one `GET /data` per `GFA_INTERVAL`. A record without a volume has empty volume labels.',
      entries: from(isGfa),
    },
    {
      title: 'Portal service',
      intro:
        'From the inventory and from one request per appliance and series. `serial` is the appliance’s UUID, `filer` its ' +
        'name in the inventory, or the serial while the name is unknown.',
      entries: from((source) => !isGfa(source) && !isOwn(source)),
    },
    {
      title: 'The exporter itself',
      intro: 'The label `api` is `gfa` (file acceleration telemetry service) or `portal`.',
      entries: from(isOwn),
    },
  ];
}

function metricSection(entry: CatalogEntry): string {
  const { name, help, type, unit, labels, source } = entry;
  const from = source.map((text) => `  - ${text}\n`).join('');
  const { panels, alerts, recorded } = usageOf(name);
  const shown = [...panels].map(([dashboard, titles]) => `${dashboard} (${titles.join(', ')})`);
  const facts = [
    `Type: ${type}`,
    `Unit: ${unit ?? 'none'}`,
    `Labels: ${labels.length === 0 ? 'none' : listed(labels)}`,
    ...Object.entries(wordsOf(entry)).map(
      ([label, known]) => `Words of \`${label}\`: ${known.map(wordText).join(', ')}`,
    ),
    `Series: ${costText(entry)}`,
    `Dashboards: ${shown.join('; ') || 'none'}`,
    `Alerts: ${alerts.map((rule) => `[\`${rule.alert}\`](runbooks/${rule.page}.md#${rule.alert.toLowerCase()})`).join(', ') || 'none'}`,
    ...(recorded.length === 0 ? [] : [`Recorded as: ${listed(recorded)}`]),
  ];
  return `### \`${name}\`

${help}

${facts.map((fact) => `- ${fact}\n`).join('')}- From:
${from}
\`\`\`promql
${exampleOf(entry)}
\`\`\`
`;
}

/** A word as a label, and as the service writes it where that differs. */
function wordText(word: string): string {
  const label = enumLabelValue(word);
  return label === word ? `\`${label}\`` : `\`${label}\` (${word})`;
}

/** What tells apart what metrics are about, in words. */
const SUBJECTS: Readonly<Record<string, string>> = {
  '': 'in all',
  'volume_guid,volume': 'a volume',
  'filer_guid,filer': 'a filer',
  'filer_guid,filer,volume_guid,volume': 'a filer and volume',
  'filer_guid,filer,volume_guid,volume,group': 'a filer, volume and group',
  'serial,filer': 'an appliance',
  'serial,filer,series': 'an appliance and series',
  'volume_guid,volume,serial,filer': 'a volume on an appliance',
  'stack_id,stack': 'a stack',
};

/** How many series a metric takes, in words. */
export function costText(entry: CatalogEntry): string {
  const { subject, perSubject, open } = costOf(entry);
  const of = SUBJECTS[subject.join()] ?? `for each set of ${listed(subject)}`;
  const each =
    entry.type === 'histogram' ? `${perSubject} histogram${perSubject === 1 ? '' : 's'}` : String(perSubject);
  const further = open.length === 0 ? '' : ` for each ${listed(open)}`;
  const about = of === 'in all' && further !== '' ? '' : ` ${of}${further === '' ? '' : ','}`;
  return `${each}${about}${further}`;
}

function listed(labels: readonly string[]): string {
  return labels.map((label) => `\`${label}\``).join(', ');
}

/** A text with its part between the markers of a name replaced. Throws when it has no such part, or more than one. */
export function withPart(text: string, name: string, content: string): string {
  const [begin, end] = [`<!-- ${name}:begin -->\n`, `<!-- ${name}:end -->`];
  const [head, rest, ...others] = text.split(begin);
  const [, tail, ...more] = rest?.split(end) ?? [];
  if (head === undefined || tail === undefined || others.length > 0 || more.length > 0) {
    throw new Error(`expected one pair of markers ${begin.trim()} and ${end}`);
  }
  return `${head}${begin}\n${content}\n${end}${tail}`;
}
