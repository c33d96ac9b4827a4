import type { Variations } from '../variations.ts';
import { draw } from '../world/waveforms.ts';

/** A JSON object before it is serialized. */
export type Item = Readonly<Record<string, unknown>>;

/**
 * One record of a response: its required fields, and those that the variations can make null or absent. `name` makes the
 * random choices independent of other records.
 */
export function item(name: string, required: Item, optional: Item, variations: Variations): Item {
  // Drawn only where needed: a large fleet has tens of thousands of fields.
  const isNull = (field: string) => variations.nulls > 0 && draw(name, field, 'null') < variations.nulls;
  const rest = variations.omitOptional
    ? []
    : Object.entries(optional).map(([field, value]) => {
        return [field, isNull(field) ? null : value] as const;
      });
  const whole: Item = { ...required, ...Object.fromEntries(rest) };
  return variations.integers === 'string' ? withTexts(whole) : whole;
}

/** Returns the usual value, or sometimes an undocumented one if the variations require one. */
export function worded(name: string, usual: string, strange: string, variations: Variations): string {
  return variations.unknownStates && draw(name, 'strange') < 0.2 ? strange : usual;
}

function withTexts(record: Item): Item {
  return Object.fromEntries(
    Object.entries(record).map(([field, value]) => [field, typeof value === 'number' ? String(value) : value]),
  );
}
