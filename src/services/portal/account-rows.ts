import { type Family, fieldNames, type JsonObject, type Labels, type Table } from '../../metrics/family.ts';
import { LabelledCounter } from '../../metrics/labelled-counter.ts';
import { labelValue, type ReportDrop, type Sample, toSamples } from '../../metrics/samples.ts';
import { iterateInSlices } from '../../runtime/slices.ts';
import type { PortalContext } from './context.ts';
import { extremeSample } from './extreme-sample.ts';

/** Describes how the records of an account operation become samples, so that a collector needs no loop of its own. */
export interface AccountRows {
  /** The labels of every sample of these rows. */
  readonly labels?: Labels;
  /** A record without this field is reported, and counts nowhere. */
  readonly needs?: string;
  /** Families that add up their field over all records, by their labels; with `recordOne` they count the records. */
  readonly counts?: readonly Family[];
  /** Families with the smallest, or the greatest, value of all records. */
  readonly least?: readonly Family[];
  readonly greatest?: readonly Family[];
  /** The samples of each record. */
  readonly each?: RecordRow;
}

/** How a record becomes samples of its own, with its id and its name as labels. */
export interface RecordRow {
  readonly families: readonly Family[];
  /** The labels with the id and the name of a record, and the fields that hold them. The id stands for a missing name. */
  readonly labels: readonly [id: string, name: string];
  readonly id: string;
  readonly name: string;
  /** Called with every id of the response; returns how each is shown. Default: in lower case. */
  readonly idsOf?: (ids: readonly string[]) => (id: string) => string;
  /** The name by which the exporter knows the id already. */
  readonly knownName?: (id: string, context: PortalContext) => string | undefined;
  /** Returns the record with the fields that the families read, if the service spells or nests them in another way. */
  readonly prepare?: (record: JsonObject) => JsonObject;
  /**
   * Reads the records that are nested in each record. Their samples have the labels of both. `path` is where they are in
   * the response; the reference of metrics shows it.
   */
  readonly parts?: RecordRow & { readonly path: string; readonly of: (record: JsonObject) => readonly JsonObject[] };
}

/** The tables of these rows, for HELP and the reference. */
export function tablesOfRows(
  source: string,
  { labels = {}, counts = [], least = [], greatest = [], each }: AccountRows,
) {
  const tables: Table[] = [];
  const families = [...counts, ...least, ...greatest];
  if (families.length > 0) tables.push({ source, commonLabels: Object.keys(labels), families });
  if (each === undefined) return tables;
  tables.push({ source, commonLabels: each.labels, families: each.families });
  const { parts } = each;
  if (parts !== undefined) {
    const commonLabels = [...each.labels, ...parts.labels];
    tables.push({ source: `${source}, ${parts.path}`, commonLabels, families: parts.families });
  }
  return tables;
}

/** The samples of all rows. A record without the id that `each` needs is reported, and counts nowhere. */
export async function readRows(
  { labels = {}, needs, counts = [], least = [], greatest = [], each }: AccountRows,
  records: readonly JsonObject[],
  context: PortalContext,
  reportDrop: ReportDrop,
): Promise<Sample[]> {
  const counters = counts.map((family) => ({ family, counter: new LabelledCounter(family) }));
  const readRecord = each && recordReader(each, records, context, reportDrop);
  const samples: Sample[] = [];
  for await (const record of iterateInSlices(records, context.clock)) {
    if (needs !== undefined && labelValue(record[needs]) === '') {
      reportDrop('record', needs);
      continue;
    }
    const ofRecord = readRecord === undefined ? [] : readRecord(record);
    if (ofRecord === undefined) continue;
    samples.push(...ofRecord);
    for (const { family, counter } of counters) {
      const [field = ''] = fieldNames(family);
      counter.add(record, family.from.read(record[field]) ?? 0);
    }
  }
  const counted = counters.flatMap(({ counter }) => counter.samples());
  return [
    ...counted.map((sample) => ({ ...sample, labels: { ...labels, ...sample.labels } })),
    ...least.flatMap((family) => extremeSample(family, 'least', records, labels, reportDrop)),
    ...greatest.flatMap((family) => extremeSample(family, 'greatest', records, labels, reportDrop)),
    ...samples,
  ];
}

/** Returns the function that reads one of `records`; it returns undefined for a record without an id. */
function recordReader(
  { families, labels: [idLabel, nameLabel], id, name, idsOf, knownName, prepare, parts }: RecordRow,
  records: readonly JsonObject[],
  context: PortalContext,
  reportDrop: ReportDrop,
  common: Labels = {},
): (record: JsonObject) => Sample[] | undefined {
  const idOf = idsOf?.(records.map((record) => labelValue(record[id]))) ?? ((text: string) => text.toLowerCase());
  return (record) => {
    const recordId = idOf(labelValue(record[id]));
    if (recordId === '') {
      reportDrop('record', id);
      return undefined;
    }
    const recordName = knownName?.(recordId, context) ?? (labelValue(record[name]) || recordId);
    const labels = { ...common, [idLabel]: recordId, [nameLabel]: recordName };
    const samples = toSamples(families, [prepare?.(record) ?? record], labels, reportDrop);
    if (parts === undefined) return samples;
    const within = parts.of(record);
    const readPart = recordReader(parts, within, context, reportDrop, labels);
    return [...samples, ...within.flatMap((part) => readPart(part) ?? [])];
  };
}
