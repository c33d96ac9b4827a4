import { type Family, isEveryOtherField, type JsonObject, type Labels } from '../../../metrics/family.ts';
import { Histogram } from '../../../metrics/histogram.ts';
import { boundedId } from '../../../metrics/label-value.ts';
import { labelValue, type ReportDrop, type Sample, toSamples } from '../../../metrics/samples.ts';
import { parseDecimal } from '../../../metrics/units.ts';
import type { Clock } from '../../../runtime/clock.ts';
import type { CountingStart } from '../../../runtime/counting-start.ts';
import { getOrCreate } from '../../../runtime/maps.ts';
import { SeenIds } from '../../../runtime/seen-ids.ts';
import type { SnapshotOperation } from './snapshot-operations.ts';

export interface LedgerDependencies {
  readonly volume: () => Labels;
  readonly since: Pick<CountingStart, 'includes'>;
  readonly bounds: readonly number[];
  readonly nameOf: (serial: string) => string | undefined;
  readonly clock: Pick<Clock, 'monotonic'>;
}

/** The longest period that the service accepts, in milliseconds: older records never arrive, and snapshots are remembered as long. */
export const MAX_PERIOD_MS = 30 * 86_400_000;

/** The most snapshots that are remembered of one volume. A volume makes some thousand in a month. */
const MAX_REMEMBERED = 20_000;

/** The largest number of appliances of a volume: as many as a fleet that is tested has. */
const MAX_APPLIANCES = 2_000;

interface CountedField {
  readonly family: Family;
  readonly field: string;
  readonly extraLabels: Labels;
}

interface ApplianceSnapshots {
  reportedName: string;
  latest: { readonly rank: number; readonly response: number; readonly record: JsonObject } | undefined;
  readonly counts: Map<CountedField, { total: number; readonly histogram: Histogram | undefined }>;
}

/** The snapshots of one volume from one operation: the newest of each appliance, and counts with each snapshot once. */
export class SnapshotLedger {
  readonly #operation: SnapshotOperation;
  readonly #dependencies: LedgerDependencies;
  readonly #latest: readonly Family[];
  readonly #counted: readonly CountedField[];
  readonly #seen = new SeenIds(MAX_REMEMBERED, MAX_PERIOD_MS);
  readonly #appliances = new Map<string, ApplianceSnapshots>();
  #responses = 0;

  constructor(operation: SnapshotOperation, dependencies: LedgerDependencies) {
    this.#operation = operation;
    this.#dependencies = dependencies;
    this.#latest = operation.families.filter(({ type }) => type === undefined);
    this.#counted = operation.families.flatMap((family) => {
      if (family.type === undefined || isEveryOtherField(family.fields)) return [];
      return Object.entries(family.fields).map(([field, extraLabels]) => ({ family, field, extraLabels }));
    });
  }

  /** Adds the records of a response and returns the samples. `now`: Unix seconds by the service's clock. */
  async add(
    records: AsyncIterable<JsonObject> | Iterable<JsonObject>,
    now: number,
    reportDrop: ReportDrop,
  ): Promise<Sample[]> {
    this.#responses += 1;
    this.#seen.begin(this.#dependencies.clock.monotonic());
    for await (const record of records) this.#add(record, now, reportDrop);
    this.#seen.forget();
    return [...this.#samples(reportDrop)];
  }

  #add(received: JsonObject, now: number, reportDrop: ReportDrop): void {
    const { fields, newestBy, isSnapshot, identity, prepare } = this.#operation;
    const serial = boundedId(labelValue(received[fields.serial]).toLowerCase());
    const endMs = parseDecimal(received[fields.end]);
    if (serial === '' || endMs === undefined) {
      reportDrop('record', serial === '' ? fields.serial : fields.end);
      return;
    }
    if (this.#appliances.size >= MAX_APPLIANCES && !this.#appliances.has(serial)) {
      reportDrop('record', fields.serial);
      return;
    }
    const appliance = this.#applianceOf(serial);
    appliance.reportedName = labelValue(received[fields.name]) || appliance.reportedName;
    if (isSnapshot?.(received) === false) return;
    const record = prepare?.(received) ?? received;
    const at = endMs / 1000;
    const rank = newestBy === undefined ? at : parseDecimal(received[newestBy]);
    const { latest } = appliance;
    // A time that is ahead of the service's clock says nothing about later responses, so any of their snapshots replaces it.
    const isWrong = newestBy === undefined && (latest?.rank ?? now) > now && latest?.response !== this.#responses;
    if (rank !== undefined && (isWrong || rank >= (latest?.rank ?? rank)))
      appliance.latest = { rank, response: this.#responses, record };
    const id = identity(record);
    if (id === undefined) {
      reportDrop('record', 'identity');
      return;
    }
    const isCounted = this.#dependencies.since.includes(at) && this.#isNew(`${serial} ${id}`, reportDrop);
    for (const counted of this.#counted) {
      const value = counted.family.from.read(record[counted.field]);
      if (value === undefined || value < 0) continue;
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
      const created: ApplianceSnapshots = { reportedName: '', latest: undefined, counts: new Map() };
      for (const counted of this.#counted) if (!counted.family.optional) this.#countOf(created, counted);
      return created;
    });
  }

  #countOf({ counts }: ApplianceSnapshots, counted: CountedField) {
    const { bounds } = this.#dependencies;
    return getOrCreate(counts, counted, () => {
      return { total: 0, histogram: counted.family.type === 'histogram' ? new Histogram(bounds) : undefined };
    });
  }

  *#samples(reportDrop: ReportDrop): Generator<Sample> {
    const { nameOf, volume } = this.#dependencies;
    for (const [serial, { reportedName, latest, counts }] of this.#appliances) {
      const commonLabels = { ...volume(), serial, filer: nameOf(serial) ?? (reportedName || serial) };
      if (latest !== undefined) yield* toSamples(this.#latest, [latest.record], commonLabels, reportDrop);
      for (const [{ family, extraLabels }, { total, histogram }] of counts) {
        const labels = { ...commonLabels, ...extraLabels };
        if (histogram === undefined) yield { name: family.name, labels, value: total };
        else yield* histogram.samples(family.name, labels);
      }
    }
  }
}
