import { type Family, isEveryOtherField, type JsonObject, type Labels } from './family.ts';
import { boundedText } from './label-value.ts';

export interface Sample {
  /** The name of the line: the family's, with `_bucket`, `_sum`, `_count` for a histogram. */
  readonly name: string;
  readonly labels: Labels;
  readonly value: number;
  /** Its time in the service's own record, in Unix seconds; undefined if it is as old as the response. */
  readonly at?: number | undefined;
}

export type TimeOf = (record: JsonObject) => number | undefined;

/**
 * Why a value has no sample; the label `reason` of `filer_exporter_samples_dropped_total`. A field that is missing or null
 * is no dropped value. `invalid`: the value is not what the service documents. `record`: a whole record
 * could not be used. `duplicate`: a later record had the same labels. `label`: the sample is exposed, with a label that
 * was shortened or replaced; `filer_exporter_labels_shortened_total` counts it. `late`: an event that first arrived
 * more than a day after its own time. `full`: an event that the full memory of events cannot remember, so it would
 * count again, or an undocumented field beyond their maximum.
 */
export type DropReason = 'invalid' | 'record' | 'duplicate' | 'label' | 'late' | 'full';

/** Reports a dropped value: the reason, and its path such as `items[3].cpu_usage` for the debug log. */
export type ReportDrop = (reason: DropReason, place: string) => void;

/**
 * Applies a table to the records of one subject, newest first. Each field takes its own newest value, so a null in the
 * newest record does not hide the value before it; a field without any value has no sample, and is reported once unless it
 * is missing or null in every record.
 *
 * `timeOf` reads a record's own time. The function is pure except for `reportDrop`.
 */
export function toSamples(
  families: readonly Family[],
  newestFirst: readonly JsonObject[],
  commonLabels: Labels,
  reportDrop: ReportDrop = () => {},
  timeOf: TimeOf = () => undefined,
): Sample[] {
  const samples: Sample[] = [];
  for (const family of families) {
    for (const [field, added] of fieldsOf(family, families, newestFirst, reportDrop)) {
      const found = newestValue(family, field, newestFirst);
      if (found.state === 'found') {
        const labels = { ...commonLabels, ...added, ...textLabels(family, found.record) };
        samples.push({ name: family.name, labels, value: found.value, at: timeOf(found.record) });
      } else if (found.state === 'invalid') reportDrop('invalid', field);
    }
  }
  return samples;
}

/** Whether a record has a value for any row of a table. */
export function hasValue(families: readonly Family[], record: JsonObject): boolean {
  return families.some((family) =>
    fieldsOf(family, families, [record], () => {}).some(
      ([field]) => newestValue(family, field, [record]).state === 'found',
    ),
  );
}

type Found =
  | { readonly state: 'found'; readonly value: number; readonly record: JsonObject }
  | { readonly state: 'absent' | 'invalid' };

function newestValue(family: Family, field: string, newestFirst: readonly JsonObject[]): Found {
  let state: 'absent' | 'invalid' = 'absent';
  for (const record of newestFirst) {
    const raw = record[field];
    if (raw === undefined || raw === null) continue;
    const value = family.from.read(raw, record);
    if (value === undefined) state = 'invalid';
    else return { state: 'found', value, record };
  }
  return { state };
}

/**
 * The largest number of undocumented fields of one response that become labels, because the service chooses their
 * names.
 */
const MAX_OTHER_FIELDS = 50;

function fieldsOf(
  family: Family,
  families: readonly Family[],
  records: readonly JsonObject[],
  reportDrop: ReportDrop,
): readonly (readonly [field: string, added: Labels])[] {
  const { fields } = family;
  if (!isEveryOtherField(fields)) return Object.entries(fields);
  const taken = new Set(fields.except);
  for (const other of families) {
    if (!isEveryOtherField(other.fields)) for (const field of Object.keys(other.fields)) taken.add(field);
  }
  const names = new Set<string>();
  for (const record of records) {
    for (const [field, raw] of Object.entries(record)) {
      if (taken.has(field) || names.has(field) || (raw !== null && family.from.read(raw) === undefined)) continue;
      if (names.size < MAX_OTHER_FIELDS) names.add(field);
      else reportDrop('full', field);
    }
  }
  return [...names].map((field) => [field, { [fields.label]: fields.value(field) }] as const);
}

/** The labels of a family that are fields of the record. */
export function textLabels(family: Family, record: JsonObject): Record<string, string> {
  const labels: Record<string, string> = {};
  for (const [label, { field }] of Object.entries(family.enumLabels ?? {}))
    labels[label] = enumLabelValue(record[field]);
  for (const [label, field] of Object.entries(family.fieldLabels ?? {})) labels[label] = labelValue(record[field]);
  return labels;
}

/**
 * Converts a value of a service to a label: a string is shortened by {@link boundedText}, a number or boolean is
 * written as text, and anything else is empty.
 */
export function labelValue(raw: unknown): string {
  if (typeof raw === 'string') return boundedText(raw);
  return typeof raw === 'number' || typeof raw === 'boolean' ? String(raw) : '';
}

/** Converts a value that a service chooses from a list to a label, in lower case with underscores. */
export function enumLabelValue(raw: unknown): string {
  return labelValue(raw)
    .toLowerCase()
    .replace(/[\s&/-]+/g, '_')
    .replace(/^_+|_+$/g, '');
}

/** The time of the newest sample that has one, in Unix seconds. */
export function newestTime(samples: Iterable<Sample>): number | undefined {
  let newest: number | undefined;
  for (const { at } of samples) if (at !== undefined && (newest === undefined || at > newest)) newest = at;
  return newest;
}
