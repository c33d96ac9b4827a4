import { isJsonObject } from '../metrics/family.ts';
import { parseDecimal } from '../metrics/units.ts';
import { formatOf, type ValueFormat } from './value-schema.ts';

/** The documented type of a field. `?` allows null. `any` is not used by any table and never checked. */
type DocumentedKind = KindName | `${KindName}?`;
type KindName = 'text' | 'uuid' | 'date' | 'integer' | 'decimal' | 'milliseconds' | 'flag' | 'any';

/** The documented fields of a response: types, words, lists of one kind of item, objects. */
export type Schema = DocumentedKind | Set<string> | [item: Schema] | DocumentedFields;

/** An object's documented fields; `'*'` stands for every other field. */
export interface DocumentedFields {
  readonly [field: string]: Schema;
}

export function oneOf(...words: readonly string[]): Set<string> {
  return new Set(words);
}

export interface SchemaDifference {
  readonly what: 'unknown field' | 'unknown word' | 'unexpected type' | 'unexpected null' | 'out of order';
  /** The path, such as `items[].build`. */
  readonly path: string;
  /** The format of the value, without its text; for a word the word itself, which the report checks. */
  readonly format: ValueFormat;
  readonly word?: string;
}

const FORMATS: Readonly<Record<Exclude<KindName, 'any'>, readonly ValueFormat[]>> = {
  text: ['text', 'empty text', 'uuid', 'date', 'decimal text'],
  uuid: ['uuid'],
  date: ['date'],
  integer: ['integer', 'decimal text'],
  decimal: ['decimal text', 'integer', 'decimal'],
  milliseconds: ['integer'],
  flag: ['flag'],
};

/** Compares a response with its documentation; reports each difference each time it occurs. */
export function compareWithSchema(
  documented: Schema,
  value: unknown,
  onDifference: (found: SchemaDifference) => void,
  path = '',
): void {
  const format = formatOf(value);
  const what = format === 'null' ? 'unexpected null' : 'unexpected type';
  if (typeof documented === 'string') {
    if (documented === 'any' || documented === 'any?') return;
    const name = documented.replace('?', '') as Exclude<KindName, 'any'>;
    const isWhole = name !== 'integer' || Number.isInteger(parseDecimal(value));
    const fits = format === 'null' ? documented.endsWith('?') : FORMATS[name].includes(format) && isWhole;
    if (!fits) onDifference({ what, path, format });
  } else if (documented instanceof Set) {
    if (typeof value !== 'string') onDifference({ what, path, format });
    else if (!documented.has(value)) onDifference({ what: 'unknown word', path, format, word: value });
  } else if (Array.isArray(documented)) {
    if (!Array.isArray(value)) {
      if (format !== 'null') onDifference({ what, path, format });
      return;
    }
    for (const item of value) compareWithSchema(documented[0], item, onDifference, `${path}[]`);
    if (isOutOfOrder(value)) onDifference({ what: 'out of order', path, format: 'list' });
  } else if (isJsonObject(value)) {
    for (const [field, content] of Object.entries(value)) {
      const schema = documented[field] ?? documented['*'];
      const fieldPath = path === '' ? field : `${path}.${field}`;
      if (schema === undefined) onDifference({ what: 'unknown field', path: fieldPath, format: formatOf(content) });
      else compareWithSchema(schema, content, onDifference, fieldPath);
    }
  } else if (format !== 'null') onDifference({ what, path, format });
}

/** Records with `time` that are neither oldest first nor newest first. */
function isOutOfOrder(records: readonly unknown[]): boolean {
  const times = records.flatMap((record) => (isJsonObject(record) ? (parseDecimal(record.time) ?? []) : []));
  const pairs = times.slice(1).map((time, index) => time - (times[index] ?? time));
  return pairs.some((step) => step > 0) && pairs.some((step) => step < 0);
}
