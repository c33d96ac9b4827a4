import { type Fields, isFields } from './family.ts';

/**
 * How a value is saved in the state file. `read` checks everything, because the file may have been edited together with
 * its checksum; it throws a TypeError if the value does not fit, and the file is then moved aside.
 */
export interface Schema<Value> {
  /** Returns a JSON value. */
  write(value: Value): unknown;
  read(saved: unknown): Value;
}

/** The schema of each property. */
type Schemas<Value> = { readonly [Name in keyof Value]-?: Schema<Value[Name]> };

export const text = unchanged('a string', (saved): saved is string => typeof saved === 'string');
export const flag = unchanged('true or false', (saved): saved is boolean => typeof saved === 'boolean');
export const fields = unchanged<Fields>('an object', isFields);

/** A whole number of at least 0. */
export const count = unchanged(
  'a count',
  (saved): saved is number => typeof saved === 'number' && Number.isSafeInteger(saved) && saved >= 0,
);

/** A finite number of at least `least`. */
export function number(least = Number.NEGATIVE_INFINITY): Schema<number> {
  const fits = (saved: unknown): saved is number =>
    typeof saved === 'number' && Number.isFinite(saved) && saved >= least;
  return unchanged('a number', fits);
}

const finite = number();

export function word<Word extends string>(words: readonly Word[]): Schema<Word> {
  return unchanged('a known word', (saved): saved is Word => words.some((one) => one === saved));
}

/** Undefined is saved as null. */
export function optional<Value>(schema: Schema<Value>): Schema<Value | undefined> {
  return {
    write: (value) => (value === undefined ? null : schema.write(value)),
    read: (saved) => (saved === null ? undefined : schema.read(saved)),
  };
}

/** A time in Unix seconds; minus infinity is saved as null, and missing in files of earlier versions. */
export const time: Schema<number> = {
  write: (at) => (Number.isFinite(at) ? at : null),
  read: (saved) => (saved === null || saved === undefined ? Number.NEGATIVE_INFINITY : finite.read(saved)),
};

/** Monotonic milliseconds, saved as an age at `now`: monotonic time ends with the process. */
export function moment(now: number): Schema<number> {
  return { write: (at) => now - at, read: (saved) => now - finite.read(saved) };
}

export function list<Value>(schema: Schema<Value>): Schema<readonly Value[]> {
  return { write: (values) => values.map(schema.write), read: (saved) => items(saved).map(schema.read) };
}

export function object<Value extends object>(schemas: Schemas<Value>): Schema<Value> {
  const properties = propertiesOf(schemas);
  return {
    write(value) {
      const saved: Record<string, unknown> = {};
      for (const { name, schema } of properties) saved[name] = schema.write(value[name]);
      return saved;
    },
    read(saved) {
      const found = fields.read(saved);
      const value: Partial<Value> = {};
      for (const { name, schema } of properties) value[name] = schema.read(found[name]);
      return value as Value;
    },
  };
}

/** An object, saved as the list of its values in this order. */
export function row<Value extends object>(schemas: Schemas<Value>) {
  const properties = propertiesOf(schemas);
  return {
    write: (value: Value): readonly unknown[] => properties.map(({ name, schema }) => schema.write(value[name])),
    read(saved: unknown): Value {
      const found = items(saved);
      const value: Partial<Value> = {};
      for (const { name, schema, index } of properties) value[name] = schema.read(found[index]);
      return value as Value;
    },
  };
}

/** A map, saved as a list of keys and values. */
export function map<Key, Value>(key: Schema<Key>, value: Schema<Value>): Schema<Map<Key, Value>> {
  return entries(
    (name, one) => [key.write(name), value.write(one)],
    ([name, one]) => [key.read(name), value.read(one)],
  );
}

/** A map of objects, saved as a list of rows: the key, then the values in this order. */
export function table<Value extends object>(schemas: Schemas<Value>): Schema<Map<string, Value>> {
  const columns = row(schemas);
  return entries(
    (key, value) => [key, ...columns.write(value)],
    ([key, ...values]) => [text.read(key), columns.read(values)],
  );
}

function entries<Key, Value>(
  write: (key: Key, value: Value) => readonly unknown[],
  read: (saved: readonly unknown[]) => readonly [Key, Value],
): Schema<Map<Key, Value>> {
  return {
    write: (map) => [...map].map(([key, value]) => write(key, value)),
    read: (saved) => new Map(items(saved).map((entry) => read(items(entry)))),
  };
}

function unchanged<Value>(expected: string, fits: (saved: unknown) => saved is Value): Schema<Value> {
  return {
    write: (value) => value,
    read(saved) {
      if (fits(saved)) return saved;
      throw new TypeError(`state file: expected ${expected}`);
    },
  };
}

export function items(saved: unknown): readonly unknown[] {
  if (Array.isArray(saved)) return saved;
  throw new TypeError('state file: expected a list');
}

function propertiesOf<Value>(schemas: Schemas<Value>) {
  const names = Object.keys(schemas) as (keyof Value & string)[];
  return names.map((name, index) => ({ name, schema: schemas[name], index }));
}
