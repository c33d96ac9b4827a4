import type { JsonObject, Labels } from '../../../metrics/family.ts';
import { Histogram } from '../../../metrics/histogram.ts';
import { labelValue, type ReportDrop, type Sample, toSamples } from '../../../metrics/samples.ts';
import { parseDecimal } from '../../../metrics/units.ts';
import type { CountingStart } from '../../../runtime/counting-start.ts';
import { getOrCreate } from '../../../runtime/maps.ts';
import type { SnapshotOperation } from './snapshot-operations.ts';

interface Snapshot {
  readonly appliance: ApplianceSnapshots;
  readonly version: number;
  /** Increases with each attempt, if one version can have several. */
  readonly attempt: number;
  readonly endMs: number;
  readonly record: JsonObject;
}

interface ApplianceSnapshots {
  newest: Snapshot | undefined;
  total: number;
  /** By the field with the duration. */
  readonly durations: Map<string, Histogram>;
}

/**
 * The snapshots of one volume from one operation: the newest of each appliance, and counts. Versions increase, so that what
 * is newer than the newest snapshot before is new: it counts once, however often it is listed.
 */
export class SnapshotLedger {
  readonly #operation: SnapshotOperation;
  readonly #start: CountingStart;
  readonly #bounds: readonly number[];
  /** By serial. */
  readonly #appliances = new Map<string, ApplianceSnapshots>();

  /** `bounds`: of the histograms. */
  constructor(operation: SnapshotOperation, start: CountingStart, bounds: readonly number[]) {
    this.#operation = operation;
    this.#start = start;
    this.#bounds = bounds;
  }

  /** The newest version of an appliance; undefined if it has none. */
  versionOf(serial: string): number | undefined {
    return this.#appliances.get(serial)?.newest?.version;
  }

  /** Adds the records of a response about these appliances; what is held for others leaves. */
  add(records: readonly JsonObject[], serials: readonly string[], reportDrop: ReportDrop): void {
    const requested = new Set(serials);
    for (const serial of this.#appliances.keys()) if (!requested.has(serial)) this.#appliances.delete(serial);
    const snapshots = records.flatMap((record) => this.#read(record, requested, reportDrop) ?? []);
    for (const snapshot of snapshots.sort(compareAge)) this.#addSnapshot(snapshot);
  }

  *samples(labelsOf: (serial: string) => Labels, reportDrop: ReportDrop): Generator<Sample> {
    const { newest: families, total: counter, durations: histogram } = this.#operation;
    for (const [serial, { newest, total, durations }] of this.#appliances) {
      const labels = labelsOf(serial);
      if (newest !== undefined) yield* toSamples(families, [newest.record], labels, reportDrop);
      if (counter !== undefined) yield { name: counter.name, labels, value: total };
      for (const [field, added] of Object.entries(histogram?.fields ?? {}))
        yield* durations.get(field)?.samples(histogram?.name ?? '', { ...labels, ...added }) ?? [];
    }
  }

  #read(record: JsonObject, requested: ReadonlySet<string>, reportDrop: ReportDrop): Snapshot | undefined {
    const { fields, hasAttempts, prepare = (same) => same } = this.#operation;
    const serial = labelValue(record[fields.serial]).toLowerCase();
    const version = parseDecimal(record[fields.version]);
    const endMs = parseDecimal(record[fields.end]);
    if (!requested.has(serial) || version === undefined || endMs === undefined) {
      reportDrop('record', requested.has(serial) ? fields.version : fields.serial);
      return undefined;
    }
    const appliance = getOrCreate(this.#appliances, serial, () => {
      return { newest: undefined, total: 0, durations: new Map<string, Histogram>() };
    });
    const prepared = prepare(record);
    return prepared && { appliance, version, attempt: hasAttempts ? endMs : 0, endMs, record: prepared };
  }

  #addSnapshot(snapshot: Snapshot): void {
    const { appliance, endMs, record } = snapshot;
    const { durations: histogram } = this.#operation;
    const difference = appliance.newest === undefined ? 1 : compareAge(snapshot, appliance.newest);
    // The newest one is replaced by itself, because it may have values that were missing before.
    if (difference >= 0) appliance.newest = snapshot;
    const isCounted = difference > 0 && this.#start.includes(endMs / 1000);
    if (isCounted) appliance.total += 1;
    for (const field of Object.keys(histogram?.fields ?? {})) {
      const value = histogram?.from.read(record[field]);
      if (value === undefined) continue;
      // A snapshot from before the start creates its series with the value 0, so that increase() sees the next one.
      const durations = getOrCreate(appliance.durations, field, () => new Histogram(this.#bounds));
      if (isCounted) durations.observe(value);
    }
  }
}

function compareAge(one: Snapshot, other: Snapshot): number {
  return one.version - other.version || one.attempt - other.attempt;
}
