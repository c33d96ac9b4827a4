import { type Family, isEveryOtherField, type JsonObject, type Labels } from '../../../metrics/family.ts';
import { Histogram } from '../../../metrics/histogram.ts';
import { labelValue, type ReportDrop, type Sample, toSamples } from '../../../metrics/samples.ts';
import { believedTime, parseDecimal } from '../../../metrics/units.ts';
import type { CountingClock, CountingStart } from '../../../runtime/counting-start.ts';
import { getOrCreate } from '../../../runtime/maps.ts';
import { SeenIds } from '../../../runtime/seen-ids.ts';
import type { SnapshotOperation } from './snapshot-operations.ts';

/** The longest period that the service accepts, in milliseconds: older records never arrive, and snapshots are remembered as long. */
export const MAX_PERIOD_MS = 30 * 86_400_000;

/** The most snapshots that are remembered of one volume. A volume makes some thousand in a month. */
const MAX_REMEMBERED = 20_000;

interface Newest {
  readonly rank: number;
  readonly version: number | undefined;
  readonly record: JsonObject;
}

interface CountedField {
  readonly family: Family;
  readonly field: string;
  readonly labels: Labels;
}

interface ApplianceSnapshots {
  reportedName: string;
  newest: Newest | undefined;
  readonly counts: Map<CountedField, { total: number; readonly histogram: Histogram | undefined }>;
}

/** The snapshots of one volume from one operation: the newest of each appliance, and counts with each snapshot once. */
export class SnapshotLedger {
  readonly #operation: SnapshotOperation;
  readonly #clock: CountingClock;
  readonly #start: CountingStart;
  readonly #bounds: readonly number[];
  readonly #counted: readonly CountedField[];
  readonly #seen = new SeenIds(MAX_REMEMBERED, MAX_PERIOD_MS);
  /** By serial. */
  readonly #appliances = new Map<string, ApplianceSnapshots>();

  /** `bounds`: of the histograms. */
  constructor(operation: SnapshotOperation, clock: CountingClock, start: CountingStart, bounds: readonly number[]) {
    this.#operation = operation;
    this.#clock = clock;
    this.#start = start;
    this.#bounds = bounds;
    this.#counted = operation.counted.flatMap((family) => {
      if (isEveryOtherField(family.fields)) return [];
      return Object.entries(family.fields).map(([field, labels]) => ({ family, field, labels }));
    });
  }

  /** The newest version of an appliance; undefined if it has none. */
  versionOf(serial: string): number | undefined {
    return this.#appliances.get(serial)?.newest?.version;
  }

  /** Adds the records of a response about these appliances; what is held for others leaves. */
  add(records: readonly JsonObject[], serials: readonly string[], reportDrop: ReportDrop): void {
    const requested = new Set(serials);
    for (const serial of this.#appliances.keys()) if (!requested.has(serial)) this.#appliances.delete(serial);
    this.#seen.begin(this.#clock.monotonic());
    for (const record of records) this.#add(record, requested, reportDrop);
    this.#seen.forget();
  }

  /** `labelsOf`: the labels of an appliance by its serial and the name in its records. */
  *samples(labelsOf: (serial: string, reportedName: string) => Labels, reportDrop: ReportDrop): Generator<Sample> {
    for (const [serial, { reportedName, newest, counts }] of this.#appliances) {
      const common = labelsOf(serial, reportedName);
      if (newest !== undefined) yield* toSamples(this.#operation.newest, [newest.record], common, reportDrop);
      for (const [{ family, labels: own }, { total, histogram }] of counts) {
        const labels = { ...common, ...own };
        if (histogram === undefined) yield { name: family.name, labels, value: total };
        else yield* histogram.samples(family.name, labels);
      }
    }
  }

  #add(received: JsonObject, requested: ReadonlySet<string>, reportDrop: ReportDrop): void {
    const { fields, newestBy, isSnapshot, identity, prepare } = this.#operation;
    const serial = labelValue(received[fields.serial]).toLowerCase();
    const endMs = parseDecimal(received[fields.end]);
    if (!requested.has(serial) || endMs === undefined) {
      reportDrop('record', requested.has(serial) ? fields.end : fields.serial);
      return;
    }
    const appliance = this.#applianceOf(serial);
    appliance.reportedName = labelValue(received[fields.name]) || appliance.reportedName;
    if (isSnapshot?.(received) === false) return;
    const record = prepare?.(received) ?? received;
    const version = parseDecimal(received[fields.version]);
    // A time ahead of the service's clock counts as now, so that a later snapshot replaces it.
    const rank = newestBy === 'version' ? version : believedTime(endMs, this.#clock.now());
    if (rank !== undefined && rank >= (appliance.newest?.rank ?? rank)) appliance.newest = { rank, version, record };
    if (this.#counted.length === 0) return;
    const id = [serial, ...identity.map((field) => labelValue(received[field]))];
    if (id.includes('')) {
      reportDrop('record', 'identity');
      return;
    }
    const isCounted = this.#start.includes(endMs / 1000) && this.#isNew(id.join(' '), reportDrop);
    for (const counted of this.#counted) {
      const value = counted.family.from.read(record[counted.field]);
      if (value === undefined) continue;
      // A snapshot from before the start creates its series with the value 0, so that increase() sees the next one.
      const count = this.#countOf(appliance, counted);
      if (!isCounted) continue;
      count.total += value;
      count.histogram?.observe(value);
    }
  }

  #isNew(id: string, reportDrop: ReportDrop): boolean {
    const delivery = this.#seen.deliver(id);
    if (delivery === 'full') reportDrop('full', 'identity');
    return delivery === 'unknown';
  }

  #applianceOf(serial: string): ApplianceSnapshots {
    return getOrCreate(this.#appliances, serial, () => {
      const created: ApplianceSnapshots = { reportedName: '', newest: undefined, counts: new Map() };
      for (const counted of this.#counted) if (counted.family.type === 'counter') this.#countOf(created, counted);
      return created;
    });
  }

  #countOf({ counts }: ApplianceSnapshots, counted: CountedField) {
    const isHistogram = counted.family.type === 'histogram';
    return getOrCreate(counts, counted, () => {
      return { total: 0, histogram: isHistogram ? new Histogram(this.#bounds) : undefined };
    });
  }
}
