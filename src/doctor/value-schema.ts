import { isJsonObject } from '../metrics/family.ts';
import { parseDateSeconds, parseDecimal } from '../metrics/units.ts';
import { getOrCreate, increment } from '../runtime/maps.ts';

/** The format of a JSON value, without its content. */
export type ValueFormat =
  | 'null'
  | 'flag'
  | 'integer'
  | 'decimal'
  | 'decimal text'
  | 'date'
  | 'uuid'
  | 'empty text'
  | 'text'
  | 'list'
  | 'object';

const UUID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

export function formatOf(value: unknown): ValueFormat {
  if (value === null || value === undefined) return 'null';
  if (typeof value === 'boolean') return 'flag';
  if (typeof value === 'number') return Number.isInteger(value) ? 'integer' : 'decimal';
  if (Array.isArray(value)) return 'list';
  if (typeof value !== 'string') return 'object';
  if (value === '') return 'empty text';
  if (UUID.test(value)) return 'uuid';
  if (parseDateSeconds(value) !== undefined) return 'date';
  return parseDecimal(value) === undefined ? 'text' : 'decimal text';
}

/** The values at one path of many responses: their formats, and the magnitude of their numbers. Safe to publish. */
interface Shape {
  /** Power of ten of how many there are. */
  readonly seen: number;
  readonly shares: Readonly<Partial<Record<ValueFormat, number>>>;
  /** The powers of ten below the smallest and the largest number other than zero. */
  readonly magnitude?: readonly [least: number, most: number];
  /** The fields of objects; a field that some objects lack was seen less often than the objects. */
  readonly fields?: Readonly<Record<string, Shape>>;
  readonly items?: Shape;
}

/** The schema of these values; `nameOf` returns how to show a field name. Two fields of one name are one. */
export function schemaOf(values: readonly unknown[], nameOf: (field: string) => string): Shape {
  const formats = new Map<ValueFormat, number>();
  const fields = new Map<string, unknown[]>();
  const lists = values.filter(Array.isArray);
  let [least, most] = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY];
  for (const value of values) {
    const format = formatOf(value);
    increment(formats, format);
    const number = Math.abs(parseDecimal(value) ?? 0);
    if (number > 0) [least, most] = [Math.min(least, powerOfTen(number)), Math.max(most, powerOfTen(number))];
    if (!isJsonObject(value)) continue;
    for (const [field, one] of Object.entries(value)) getOrCreate(fields, nameOf(field), () => []).push(one);
  }
  const shares = [...formats].map(
    ([format, count]) => [format, Math.round((100 * count) / values.length) / 100] as const,
  );
  const shapes = [...fields].map(([name, own]) => [name, schemaOf(own, nameOf)] as const);
  return {
    seen: powerOfTen(values.length),
    shares: Object.fromEntries(shares),
    ...(most >= least && { magnitude: [least, most] as const }),
    ...(shapes.length > 0 && { fields: Object.fromEntries(shapes) }),
    ...(lists.length > 0 && { items: schemaOf(lists.flat(), nameOf) }),
  };
}

/** The power of ten below a number; 0 for 0. */
export function powerOfTen(value: number): number {
  return value > 0 ? Math.floor(Math.log10(value)) : 0;
}
