import { isFields } from '../metrics/family.ts';
import { decimal } from '../metrics/units.ts';
import { type Look, lookOf } from './shape.ts';

/** The documented type of a field. `?` allows null. `any` is not used by any table and never checked. */
type DocumentedKind = KindName | `${KindName}?`;
type KindName = 'text' | 'uuid' | 'date' | 'integer' | 'decimal' | 'milliseconds' | 'flag' | 'any';

/** The documented fields of an answer: types, words, lists of one kind of item, objects. */
export type Documented = DocumentedKind | Set<string> | [item: Documented] | DocumentedFields;

/** An object's documented fields; `'*'` stands for every other field. */
export interface DocumentedFields {
  readonly [field: string]: Documented;
}

export function oneOf(...words: readonly string[]): Set<string> {
  return new Set(words);
}

export interface Unexpected {
  readonly what: 'unknown field' | 'unknown word' | 'unexpected type' | 'unexpected null' | 'out of order';
  /** The place, such as `items[].build`. */
  readonly place: string;
  /** The look of the value, without its text; for words the word itself, which the report checks. */
  readonly look: Look;
  readonly word?: string;
}

const LOOKS: Readonly<Record<Exclude<KindName, 'any'>, readonly Look[]>> = {
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
  documented: Documented,
  value: unknown,
  tell: (found: Unexpected) => void,
  place = '',
): void {
  const look = lookOf(value);
  const what = look === 'null' ? 'unexpected null' : 'unexpected type';
  if (typeof documented === 'string') {
    if (documented === 'any' || documented === 'any?') return;
    const name = documented.replace('?', '') as Exclude<KindName, 'any'>;
    const isWhole = name !== 'integer' || Number.isInteger(decimal(value));
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
  } else if (isFields(value)) {
    for (const [field, one] of Object.entries(value)) {
      const known = documented[field] ?? documented['*'];
      const at = place === '' ? field : `${place}.${field}`;
      if (known === undefined) tell({ what: 'unknown field', place: at, look: lookOf(one) });
      else unexpectedIn(known, one, tell, at);
    }
  } else if (look !== 'null') tell({ what, place, look });
}

/** Records with `time` that are neither oldest first nor newest first. */
function isOutOfOrder(records: readonly unknown[]): boolean {
  const times = records.flatMap((record) => (isFields(record) ? (decimal(record.time) ?? []) : []));
  const pairs = times.slice(1).map((time, index) => time - (times[index] ?? time));
  return pairs.some((step) => step > 0) && pairs.some((step) => step < 0);
}
