import type { Sample } from '../../src/metrics/samples.ts';

/** The samples as `name{label="value"}` to number, for tests that name the few lines they are about. */
export function valuesOf(samples: Iterable<Sample>): Readonly<Record<string, number>> {
  const values: Record<string, number> = {};
  for (const { name, labels, value } of samples) {
    const texts = Object.entries(labels).map(([label, text]) => `${label}="${text}"`);
    values[texts.length === 0 ? name : `${name}{${texts.join(',')}}`] = value;
  }
  return values;
}
