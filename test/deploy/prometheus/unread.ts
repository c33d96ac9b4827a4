/**
 * The fields of a value that a validator of kubernetes-models never looked at, as paths. Its validators are compiled, and
 * pass over fields that they do not know; a misspelt one would be dropped by the API server without a word.
 */
export function unreadFields(value: object, validate: (value: object) => void): readonly string[] {
  const read = new Set<string>();
  validate(watched(value, '', read));
  return pathsOf(value, '').filter((path) => !read.has(path));
}

function watched<Value extends object>(value: Value, place: string, read: Set<string>): Value {
  return new Proxy(value, {
    get(target, key, receiver) {
      const field: unknown = Reflect.get(target, key, receiver);
      if (typeof key === 'symbol' || !Object.hasOwn(target, key)) return field;
      const path = `${place}/${key}`;
      read.add(path);
      return typeof field === 'object' && field !== null ? watched(field, path, read) : field;
    },
  });
}

function pathsOf(value: unknown, place: string): string[] {
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([key, field]) => [`${place}/${key}`, ...pathsOf(field, `${place}/${key}`)]);
}
