import type { Sample } from '../../src/metrics/samples.ts';

/** The samples as `name{label="value"}` to number. Throws if two have the same labels. */
export function valuesOf(samples: Iterable<Sample>): Readonly<Record<string, number>> {
  const values: Record<string, number> = {};
  for (const { name, labels, value } of samples) {
    const texts = Object.entries(labels).map(([label, text]) => `${label}="${text}"`);
    const series = texts.length === 0 ? name : `${name}{${texts.join(',')}}`;
    if (series in values) throw new Error(`${series} occurs twice`);
    values[series] = value;
  }
  return values;
}
