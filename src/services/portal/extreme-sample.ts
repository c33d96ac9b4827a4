import type { Family, JsonObject, Labels } from '../../metrics/family.ts';
import { type ReportDrop, type Sample, toSamples } from '../../metrics/samples.ts';

/** The least or the greatest value over many records, as the only sample of a family; none without a readable value. */
export function extremeSample(
  family: Family,
  extreme: 'least' | 'greatest',
  records: readonly JsonObject[],
  labels: Labels,
  note: ReportDrop,
): Sample[] {
  const pick = extreme === 'least' ? Math.min : Math.max;
  let found: number | undefined;
  for (const record of records) {
    const [sample] = toSamples([family], [record], {}, note);
    if (sample !== undefined) found = pick(found ?? sample.value, sample.value);
  }
  return found === undefined ? [] : [{ name: family.name, labels, value: found }];
}
