import { isFields } from '../metrics/family.ts';
import { decimal } from '../metrics/units.ts';
import { type Look, lookOf } from './shape.ts';

/** The documented type of a field. `?` allows null. `any` is not used by any table and never checked. */
export type DocumentedKind = KindName | `${KindName}?`;
type KindName = 'text' | 'uuid' | 'date' | 'integer' | 'decimal' | 'milliseconds' | 'flag' | 'any';

export interface Words {
  readonly words: readonly string[];
}

/** The documented fields of an answer: types, words, lists of one kind of item, objects. */
export type Documented = DocumentedKind | Words | readonly [item: Documented] | DocumentedFields;

/** An object's documented fields; `'*'` stands for every other field. */
export interface DocumentedFields {
  readonly [field: string]: Documented;
}

export function oneOf(...words: readonly string[]): Words {
  return { words };
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
  if (typeof documented === 'string') {
    if (documented === 'any' || documented === 'any?') return;
    const name = documented.replace('?', '') as Exclude<KindName, 'any'>;
    if (look === 'null') {
      if (!documented.endsWith('?')) tell({ what: 'unexpected null', place, look });
    } else if (!LOOKS[name].includes(look) || (name === 'integer' && !Number.isInteger(decimal(value)))) {
      tell({ what: 'unexpected type', place, look });
    }
  } else if (isWords(documented)) {
    if (typeof value !== 'string') tell({ what: look === 'null' ? 'unexpected null' : 'unexpected type', place, look });
    else if (!documented.words.includes(value)) tell({ what: 'unknown word', place, look, word: value });
  } else if (isList(documented)) {
    if (!Array.isArray(value)) {
      if (look !== 'null') tell({ what: 'unexpected type', place, look });
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
  } else if (look !== 'null') tell({ what: 'unexpected type', place, look });
}

function isWords(documented: Documented): documented is Words {
  return isFields(documented) && Array.isArray(documented.words);
}

function isList(documented: Documented): documented is readonly [Documented] {
  return Array.isArray(documented);
}

/** Records with `time` that are neither oldest first nor newest first. */
function isOutOfOrder(records: readonly unknown[]): boolean {
  const times = records.flatMap((record) => (isFields(record) ? (decimal(record.time) ?? []) : []));
  const pairs = times.slice(1).map((time, index) => time - (times[index] ?? time));
  return pairs.some((step) => step > 0) && pairs.some((step) => step < 0);
}
