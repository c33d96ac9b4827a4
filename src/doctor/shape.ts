import { isFields } from '../metrics/family.ts';
import { dateSeconds, decimal } from '../metrics/units.ts';

/** What a JSON value looks like, without its content. */
export type Look =
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

export function lookOf(value: unknown): Look {
  if (value === null || value === undefined) return 'null';
  if (typeof value === 'boolean') return 'flag';
  if (typeof value === 'number') return Number.isInteger(value) ? 'integer' : 'decimal';
  if (Array.isArray(value)) return 'list';
  if (typeof value !== 'string') return 'object';
  if (value === '') return 'empty text';
  if (UUID.test(value)) return 'uuid';
  if (dateSeconds(value) !== undefined) return 'date';
  return decimal(value) === undefined ? 'text' : 'decimal text';
}

/** The values at one place of many answers: their looks, and the magnitude of their numbers. Safe to publish. */
export interface Shape {
  /** How often each look was seen. */
  readonly looks: Readonly<Partial<Record<Look, number>>>;
  /** The powers of ten below the smallest and the largest number other than zero. */
  readonly magnitude?: readonly [least: number, most: number];
  /** The fields of objects; a field that some objects lack was seen less often than the objects. */
  readonly fields?: Readonly<Record<string, Shape>>;
  /** The items of lists. */
  readonly items?: Shape;
}

/** Adds up the shapes of answers. */
export class ShapeCount {
  readonly #looks = new Map<Look, number>();
  readonly #fields = new Map<string, ShapeCount>();
  #items: ShapeCount | undefined;
  #least = Number.POSITIVE_INFINITY;
  #most = Number.NEGATIVE_INFINITY;

  add(value: unknown): this {
    const look = lookOf(value);
    this.#looks.set(look, (this.#looks.get(look) ?? 0) + 1);
    const number = Math.abs(decimal(value) ?? 0);
    if (number > 0) {
      const power = Math.floor(Math.log10(number));
      this.#least = Math.min(this.#least, power);
      this.#most = Math.max(this.#most, power);
    }
    if (Array.isArray(value)) {
      this.#items ??= new ShapeCount();
      for (const item of value) this.#items.add(item);
    } else if (isFields(value)) {
      for (const [name, field] of Object.entries(value)) this.#field(name).add(field);
    }
    return this;
  }

  /** The shape; `nameOf` returns how to show a field name. Two fields of one name are one. */
  shape(nameOf: (field: string) => string): Shape {
    const fields: Record<string, Shape> = {};
    for (const [name, count] of this.#fields) {
      const shown = nameOf(name);
      const shape = count.shape(nameOf);
      const before = fields[shown];
      fields[shown] = before === undefined ? shape : joined(before, shape);
    }
    return {
      looks: Object.fromEntries(this.#looks),
      ...(this.#most < this.#least ? {} : { magnitude: [this.#least, this.#most] as const }),
      ...(this.#fields.size === 0 ? {} : { fields }),
      ...(this.#items === undefined ? {} : { items: this.#items.shape(nameOf) }),
    };
  }

  #field(name: string): ShapeCount {
    const field = this.#fields.get(name) ?? new ShapeCount();
    this.#fields.set(name, field);
    return field;
  }
}

/** The union of two shapes, field by field. */
function joined(one: Shape, other: Shape): Shape {
  const looks: Partial<Record<Look, number>> = { ...one.looks };
  for (const look of Object.keys(other.looks) as Look[]) looks[look] = (looks[look] ?? 0) + (other.looks[look] ?? 0);
  const fields: Record<string, Shape> = { ...one.fields };
  for (const [name, shape] of Object.entries(other.fields ?? {})) {
    const before = fields[name];
    fields[name] = before === undefined ? shape : joined(before, shape);
  }
  const magnitudes = [one.magnitude, other.magnitude].filter((magnitude) => magnitude !== undefined);
  const items = one.items && other.items ? joined(one.items, other.items) : (one.items ?? other.items);
  return {
    looks,
    ...(magnitudes.length === 0
      ? {}
      : {
          magnitude: [
            Math.min(...magnitudes.map(([least]) => least)),
            Math.max(...magnitudes.map(([, most]) => most)),
          ] as const,
        }),
    ...(Object.keys(fields).length === 0 ? {} : { fields }),
    ...(items === undefined ? {} : { items }),
  };
}
