import type { Family, Fields, Labels } from '../../metrics/family.ts';
import type { NoteDrop, Sample } from '../../metrics/samples.ts';

/**
 * The minimum or maximum of one field over many records, as the only sample of a row; none if no record has a readable
 * value. A record without a value is noted, unless the row declares the field optional.
 */
export function extremeSample(
  family: Family,
  field: string,
  records: readonly Fields[],
  which: 'least' | 'most',
  labels: Labels,
  note: NoteDrop,
): Sample[] {
  let found: number | undefined;
  for (const record of records) {
    const raw = record[field];
    const value = raw === undefined || raw === null ? undefined : family.from.read(raw);
    if (value === undefined) {
      if (raw !== undefined && raw !== null) note('invalid', field);
      else if (!family.optional) note('absent', field);
    } else if (found === undefined || (which === 'least' ? value < found : value > found)) found = value;
  }
  return found === undefined ? [] : [{ name: family.name, labels, value: found }];
}
