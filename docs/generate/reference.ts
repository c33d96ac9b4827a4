import { type CatalogEntry, catalog } from '../../src/catalog.ts';
import { isSecret, type NamedVariable } from '../../src/config/table.ts';

/** docs/metrics.md: one table for each service, and one for the exporter. */
export function metricsPage(): string {
  const isOfGfa = ([first = '']: readonly string[]) => first.startsWith('GET /data');
  const isOfExporter = ([first = '']: readonly string[]) => first === 'the exporter';
  return `# Metrics

<!-- Generated from the catalogue by \`npm run docs\`; do not edit. -->

Values are in base units: seconds, bytes, ratios from 0 to 1, Unix seconds. A field that is null, missing or unreadable gives
no sample, never a zero. Labels with values that a service chooses from a list are in lower case with underscores. *From* names
the operation of the service and its fields, in the service's own spelling. [Concepts](concepts.md) defines the words.

## File acceleration

${table(catalog.filter(({ source }) => isOfGfa(source)))}
## Portal

${table(catalog.filter(({ source }) => !isOfGfa(source) && !isOfExporter(source)))}
## The exporter

The label \`api\` is \`gfa\` for file acceleration or \`portal\`. In addition there are the usual metrics of a Node.js process,
\`process_*\` and \`nodejs_*\`.

${table(catalog.filter(({ source }) => isOfExporter(source)))}`;
}

function table(entries: readonly CatalogEntry[]): string {
  const withSource = entries.some(({ source: [first] }) => first !== 'the exporter');
  const rows = entries.map(({ name, type, labels, help, source }) => {
    const cells = [`\`${name}\``, type, labels.map((label) => `\`${label}\``).join(', '), help];
    if (withSource) cells.push(source.join('<br>'));
    return row(cells);
  });
  const head = ['metric', 'type', 'labels', 'meaning', ...(withSource ? ['from'] : [])];
  return `${row(head)}${row(head.map(() => '---'))}${rows.join('')}`;
}

/** The table of the variables in docs/configuration.md. */
export function variablesTable(rows: readonly NamedVariable[]): string {
  const lines = rows.map(({ name, row: { format, help, ...variable } }) => {
    const byDefault = variable.default === undefined ? (variable.unset ?? '') : `\`${variable.default}\``;
    return row([`\`${name}\`${isSecret({ format, help }) ? ' (file)' : ''}`, format.label, byDefault, help]);
  });
  const head = ['variable', 'type', 'default', 'meaning'];
  return `${row(head)}${row(head.map(() => '---'))}${lines.join('')}`;
}

function row(cells: readonly string[]): string {
  return `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |\n`;
}

/** A page with the part between the markers of a name replaced. Throws unless the page has one pair of them. */
export function withPart(page: string, name: string, content: string): string {
  const [begin, end] = [`<!-- ${name}:begin -->\n`, `<!-- ${name}:end -->`];
  const [head, rest, ...others] = page.split(begin);
  const [, tail] = rest?.split(end) ?? [];
  if (head === undefined || tail === undefined || others.length > 0) {
    throw new Error(`expected one pair of markers ${begin.trim()} and ${end}`);
  }
  return `${head}${begin}\n${content}\n${end}${tail}`;
}
