/** How a value is saved in the state file, whose checksum vouches for what is read. */
export interface Schema<Value> {
  /** Returns a JSON value. */
  write(value: Value): unknown;
  read(saved: unknown): Value;
}

/** The schema of each property. */
type Schemas<Value> = { readonly [Name in keyof Value]-?: Schema<Value[Name]> };

/** A JSON value, saved as it is. */
export function plain<Value>(): Schema<Value> {
  return { write: (value) => value, read: (saved) => saved as Value };
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
  read: (saved) => (typeof saved === 'number' ? saved : Number.NEGATIVE_INFINITY),
};

/** Monotonic milliseconds, saved as an age at `now`: monotonic time ends with the process. */
export function moment(now: number): Schema<number> {
  return { write: (at) => now - at, read: (saved) => now - Number(saved) };
}

/** An object, saved as the list of its values in this order. */
export function row<Value extends object>(schemas: Schemas<Value>) {
  const columns = Object.entries(schemas) as [keyof Value, Schema<unknown>][];
  return {
    write: (value: Value): readonly unknown[] => columns.map(([name, schema]) => schema.write(value[name])),
    read: (saved: unknown) =>
      Object.fromEntries(
        columns.map(([name, schema], index) => [name, schema.read((saved as unknown[])[index])]),
      ) as Value,
  };
}

/** A map of objects, saved as a list of rows: the key, then the values in this order. */
export function table<Value extends object>(schemas: Schemas<Value>): Schema<Map<string, Value>> {
  const columns = row(schemas);
  return {
    write: (map) => [...map].map(([key, value]) => [key, ...columns.write(value)]),
    read: (saved) =>
      new Map((saved as [string, ...unknown[]][]).map(([key, ...values]) => [key, columns.read(values)])),
  };
}
