import type { Variations } from '../variations.ts';
import { draw } from '../world/signals.ts';

/** A JSON object before it is written. */
export type Item = Readonly<Record<string, unknown>>;

/**
 * One record of an answer: what is promised, and what may be null or absent, which the variations make so. `name` makes
 * the draws its own.
 */
export function item(name: string, promised: Item, optional: Item, variations: Variations): Item {
  // Not drawn for nothing: a large fleet has tens of thousands of fields.
  const isNull = (field: string) => variations.nulls > 0 && draw(name, field, 'null') < variations.nulls;
  const rest = variations.omitOptional
    ? []
    : Object.entries(optional).map(([field, value]) => {
        return [field, isNull(field) ? null : value] as const;
      });
  const whole: Item = { ...promised, ...Object.fromEntries(rest) };
  return variations.integers === 'string' ? withTexts(whole) : whole;
}

/** The word, or now and then one that nobody has documented where the variations ask for it. */
export function worded(name: string, usual: string, strange: string, variations: Variations): string {
  return variations.unknownStates && draw(name, 'strange') < 0.2 ? strange : usual;
}

function withTexts(record: Item): Item {
  return Object.fromEntries(
    Object.entries(record).map(([field, value]) => [field, typeof value === 'number' ? String(value) : value]),
  );
}
