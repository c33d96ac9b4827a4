import type { Family, Fields, Labels } from '../../metrics/family.ts';
import type { NoteDrop, Sample } from '../../metrics/samples.ts';

/**
 * The least or the most that one field holds over many records, as the one sample of a row; none where no record holds a
 * readable value. A record without one is noted, unless the row says that the field is optional.
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
