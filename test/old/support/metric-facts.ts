import type { CatalogEntry } from '../../src/catalog.ts';
import { type Family, isEveryOtherField, type Labels, OTHER } from '../../src/metrics/family.ts';
import { services } from '../../src/services/services.ts';

/** How many series a metric has; a histogram has each of them once for every bucket, sum and count. */
export interface SeriesCost {
  /** The labels of its subject: an appliance, a filer and volume; none for the account. */
  readonly subject: readonly string[];
  /** Series for each subject, from the fields and the known words. */
  readonly perSubject: number;
  /** Labels whose values come from the data: one more series for each value. */
  readonly open: readonly string[];
}

const rows = services.flatMap(({ tables }) =>
  tables.flatMap(({ commonLabels, families }) => families.map((family) => ({ subject: commonLabels, family }))),
);

function rowsOf({ name }: CatalogEntry) {
  return rows.filter(({ family }) => family.name === name);
}

/** The documented words of each label, in the service's own spelling. */
export function wordsOf(entry: CatalogEntry): Readonly<Record<string, readonly string[]>> {
  const words = rowsOf(entry).flatMap(({ family: { enumLabels = {}, states } }) => {
    const chosen = Object.entries(enumLabels).flatMap(([label, { documentedValues }]) =>
      documentedValues ? [[label, documentedValues] as const] : [],
    );
    return states === undefined ? chosen : [...chosen, [states.label, states.documentedValues] as const];
  });
  return Object.fromEntries(words);
}

export function costOf(entry: CatalogEntry): SeriesCost {
  const own = rowsOf(entry);
  const [first] = own;
  if (first === undefined) return { subject: [], perSubject: 1, open: entry.labels };
  const families = own.map(({ family }) => family);
  const open = [...new Set(families.flatMap(openLabels))];
  return { subject: first.subject, perSubject: distinct(families.flatMap(variantsOf), open), open };
}

/** The sets of labels that are known in advance. */
function variantsOf({ fields, states }: Family): readonly Labels[] {
  const fixed = isEveryOtherField(fields) ? [{}] : Object.values(fields);
  if (states === undefined) return fixed;
  const words = [...states.documentedValues, OTHER];
  return fixed.flatMap((labels) => words.map((word) => ({ ...labels, [states.label]: word })));
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
function openLabels({ from, fields, fieldLabels, enumLabels }: Family): readonly string[] {
  const named = from.unit === 'info' ? [] : Object.keys({ ...enumLabels, ...fieldLabels });
  return isEveryOtherField(fields) ? [fields.label, ...named] : named;
}
