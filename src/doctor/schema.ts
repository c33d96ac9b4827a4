import { isJsonObject } from '../metrics/family.ts';
import { parseDecimal } from '../metrics/units.ts';
import { formatOf, type ValueFormat } from './value-schema.ts';

/** The documented type of a field. `?` allows null. `any` is not used by any table and never checked. */
type DocumentedKind = KindName | `${KindName}?`;
type KindName = 'text' | 'uuid' | 'date' | 'integer' | 'decimal' | 'milliseconds' | 'flag' | 'any';

/** The documented fields of an answer: types, words, lists of one kind of item, objects. */
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
  /** The place, such as `items[].build`. */
  readonly place: string;
  /** The look of the value, without its text; for words the word itself, which the report checks. */
  readonly look: ValueFormat;
  readonly word?: string;
}

const LOOKS: Readonly<Record<Exclude<KindName, 'any'>, readonly ValueFormat[]>> = {
  text: ['text', 'empty text', 'uuid', 'date', 'decimal text'],
  uuid: ['uuid'],
  date: ['date'],
  integer: ['integer', 'decimal text'],
  decimal: ['decimal text', 'integer', 'decimal'],
  milliseconds: ['integer'],
  flag: ['flag'],
};

/** Compares an answer with its documentation; returns each difference each time it occurs. */
export function unexpectedIn(
  documented: Schema,
  value: unknown,
  tell: (found: SchemaDifference) => void,
  place = '',
): void {
  const look = formatOf(value);
  const what = look === 'null' ? 'unexpected null' : 'unexpected type';
  if (typeof documented === 'string') {
    if (documented === 'any' || documented === 'any?') return;
    const name = documented.replace('?', '') as Exclude<KindName, 'any'>;
    const isWhole = name !== 'integer' || Number.isInteger(parseDecimal(value));
    const fits = look === 'null' ? documented.endsWith('?') : LOOKS[name].includes(look) && isWhole;
    if (!fits) tell({ what, place, look });
  } else if (documented instanceof Set) {
    if (typeof value !== 'string') tell({ what, place, look });
    else if (!documented.has(value)) tell({ what: 'unknown word', place, look, word: value });
  } else if (Array.isArray(documented)) {
    if (!Array.isArray(value)) {
      if (look !== 'null') tell({ what, place, look });
      return;
    }
    for (const item of value) unexpectedIn(documented[0], item, tell, `${place}[]`);
    if (isOutOfOrder(value)) tell({ what: 'out of order', place, look: 'list' });
  } else if (isJsonObject(value)) {
    for (const [field, one] of Object.entries(value)) {
      const known = documented[field] ?? documented['*'];
      const at = place === '' ? field : `${place}.${field}`;
      if (known === undefined) tell({ what: 'unknown field', place: at, look: formatOf(one) });
      else unexpectedIn(known, one, tell, at);
    }
  } else if (look !== 'null') tell({ what, place, look });
}

/** Records with `time` that are neither oldest first nor newest first. */
function isOutOfOrder(records: readonly unknown[]): boolean {
  const times = records.flatMap((record) => (isJsonObject(record) ? (parseDecimal(record.time) ?? []) : []));
  const pairs = times.slice(1).map((time, index) => time - (times[index] ?? time));
  return pairs.some((step) => step > 0) && pairs.some((step) => step < 0);
}
