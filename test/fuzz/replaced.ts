/** A value of JSON with one value somewhere within replaced; `turns` say where to go. */
export function replaced(value: unknown, turns: readonly number[], by: unknown): unknown {
  const [turn, ...further] = turns;
  if (turn === undefined || typeof value !== 'object' || value === null) return by;
  const keys = Object.keys(value);
  const key = keys[turn % Math.max(1, keys.length)];
  if (key === undefined) return by;
  const changed = replaced((value as Record<string, unknown>)[key], further, by);
  if (Array.isArray(value)) return value.map((one: unknown, index) => (String(index) === key ? changed : one));
  return { ...value, [key]: changed };
}
