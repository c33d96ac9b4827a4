import type { Family, JsonObject, Labels } from '../../metrics/family.ts';
import { type ReportDrop, type Sample, toSamples } from '../../metrics/samples.ts';

/** One sample of a family: the least or the greatest value of all records. Empty if no record has a readable value. */
export function extremeSample(
  family: Family,
  extreme: 'least' | 'greatest',
  records: readonly JsonObject[],
  labels: Labels,
  reportDrop: ReportDrop,
): Sample[] {
  const pick = extreme === 'least' ? Math.min : Math.max;
  let extremeValue: number | undefined;
  for (const record of records) {
    const [sample] = toSamples([family], [record], {}, reportDrop);
    if (sample !== undefined) extremeValue = pick(extremeValue ?? sample.value, sample.value);
  }
  return extremeValue === undefined ? [] : [{ name: family.name, labels, value: extremeValue }];
}
