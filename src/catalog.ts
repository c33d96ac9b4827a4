import { rowsOf } from './config/load.ts';
import type { NamedRow } from './config/section.ts';
import { ownFamilies } from './exposition/own/table.ts';
import {
  addedLabels,
  type Family,
  fieldNames,
  isEveryOtherField,
  type Labels,
  type MetricType,
  OTHER,
  type Table,
} from './metrics/family.ts';
import { upstreams } from './sources/upstreams.ts';

/** One metric in the catalogue: everything that HELP, the reference, dashboards and tests need. */
export interface CatalogEntry {
  readonly name: string;
  readonly help: string;
  readonly type: MetricType;
  /** The base unit; undefined for counts, states and infos. */
  readonly unit: string | undefined;
  /** Every label, in the order of the exposition. */
  readonly labels: readonly string[];
  /** The operation and the fields, in the service's own spelling. */
  readonly source: readonly string[];
  /** The documented words of a label, in the service's own spelling. */
  readonly words: Readonly<Record<string, readonly string[]>>;
  readonly cost: SeriesCost;
}

/** How many series a metric has; a histogram has each of them once for every bucket, sum and count. */
export interface SeriesCost {
  /** The labels of its subject: an appliance, a filer and volume; none for the account. */
  readonly subject: readonly string[];
  /** Series for each subject, from the fields and the known words. */
  readonly perSubject: number;
  /** Labels whose values come from the data: one more series for each value. */
  readonly open: readonly string[];
}

/** Every metric of upstream data, one entry a name, in the order of the exposition. */
export const upstreamCatalog: readonly CatalogEntry[] = merge(upstreams.flatMap(({ tables }) => tables));

/** Every metric: those of upstream data, and those of the exporter itself. */
export const catalog: readonly CatalogEntry[] = [
  ...upstreamCatalog,
  ...ownFamilies.map(({ name, help, type, unit, labels }) => ({
    name,
    help,
    type,
    unit,
    labels,
    source: ['the exporter'],
    words: {},
    cost: { subject: [], perSubject: 1, open: labels },
  })),
];

export const variableRows: readonly NamedRow[] = rowsOf(upstreams.map(({ section }) => section));

function merge(all: readonly Table[]): readonly CatalogEntry[] {
  const entries = new Map<string, CatalogEntry>();
  const variants = new Map<string, Labels[]>();
  for (const { source, subject, families } of all) {
    for (const family of families) {
      const fields = isEveryOtherField(family.fields) ? 'every numeric field' : fieldNames(family).join(', ');
      const known = entries.get(family.name);
      const own = [...(variants.get(family.name) ?? []), ...variantsOf(family)];
      variants.set(family.name, own);
      const open = [...new Set([...(known?.cost.open ?? []), ...openLabels(family)])];
      entries.set(family.name, {
        name: family.name,
        help: family.help,
        type: family.type ?? 'gauge',
        unit: unitOf(family),
        labels: [...new Set([...(known?.labels ?? subject), ...addedLabels(family)])],
        source: [...(known?.source ?? []), fields === '' ? source : `${source}: ${fields}`],
        words: { ...known?.words, ...wordsOf(family) },
        cost: {
          subject: known?.cost.subject ?? subject,
          perSubject: distinct(own, open),
          open,
        },
      });
    }
  }
  return [...entries.values()];
}

/** The sets of labels that are known in advance. */
function variantsOf({ fields, states }: Family): readonly Labels[] {
  const fixed = isEveryOtherField(fields) ? [{}] : Object.values(fields);
  if (states === undefined) return fixed;
  const words = [...states.known, OTHER];
  return fixed.flatMap((labels) => words.map((word) => ({ ...labels, [states.label]: word })));
}

function wordsOf({ wordsFrom = {}, states }: Family): CatalogEntry['words'] {
  const chosen = Object.entries(wordsFrom).flatMap(([label, { known }]) => (known ? [[label, known] as const] : []));
  return Object.fromEntries(states === undefined ? chosen : [...chosen, [states.label, states.known]]);
}

/** How many sets differ, ignoring open labels. */
function distinct(variants: readonly Labels[], open: readonly string[]): number {
  const texts = variants.map((labels) => {
    return JSON.stringify(Object.entries(labels).filter(([label]) => !open.includes(label)));
  });
  // A row without fields is about its subject itself and has one series.
  return Math.max(1, new Set(texts).size);
}

/** An info has one value of each label for a subject. */
function openLabels({ from, fields, labelsFrom, wordsFrom }: Family): readonly string[] {
  const named = from.unit === 'info' ? [] : Object.keys({ ...wordsFrom, ...labelsFrom });
  return isEveryOtherField(fields) ? [fields.label, ...named] : named;
}

function unitOf({ from: { unit } }: Family): string | undefined {
  if (unit === 'none' || unit === 'info') return undefined;
  return unit === 'timestamp_seconds' ? 'seconds' : unit;
}
