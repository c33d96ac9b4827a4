import { type Family, isEveryOtherField, type JsonObject, type Labels } from '../../../metrics/family.ts';
import { Histogram } from '../../../metrics/histogram.ts';
import { believedTime } from '../../../metrics/reported-time.ts';
import { labelValue, type ReportDrop, type Sample, toSamples } from '../../../metrics/samples.ts';
import { SeenIds } from '../../../metrics/seen-ids.ts';
import { parseDecimal } from '../../../metrics/units.ts';
import type { CountingStart } from '../../../runtime/counting-start.ts';
import { getOrCreate } from '../../../runtime/maps.ts';
import type { SnapshotOperation } from './snapshot-operations.ts';

export interface LedgerDependencies {
  readonly volume: () => Labels;
  readonly since: Pick<CountingStart, 'includes'>;
  readonly bounds: readonly number[];
  readonly nameOf: (serial: string) => string | undefined;
}

/** The longest period that the service accepts, in milliseconds: older records never arrive. */
export const MAX_PERIOD_MS = 30 * 86_400_000;

/** The most snapshots to remember for one volume, which makes some thousand a month. */
const MAX_REMEMBERED = 20_000;

interface CountedField {
  readonly family: Family;
  readonly field: string;
  readonly added: Labels;
}

interface ApplianceSnapshots {
  told: string;
  latest: { readonly rank: number; readonly record: JsonObject } | undefined;
  readonly counts: Map<CountedField, { total: number; readonly histogram: Histogram | undefined }>;
}

/** The snapshots of one volume from one operation: the newest of each appliance, and every one counted once. */
export class SnapshotLedger {
  readonly #operation: SnapshotOperation;
  readonly #parts: LedgerDependencies;
  readonly #latest: readonly Family[];
  readonly #counted: readonly CountedField[];
  readonly #seen = new SeenIds(MAX_REMEMBERED);
  readonly #appliances = new Map<string, ApplianceSnapshots>();
  #newest = Number.NEGATIVE_INFINITY;

  constructor(operation: SnapshotOperation, parts: LedgerDependencies) {
    this.#operation = operation;
    this.#parts = parts;
    this.#latest = operation.families.filter(({ type }) => type === undefined);
    this.#counted = operation.families.flatMap((family) => {
      if (family.type === undefined || isEveryOtherField(family.fields)) return [];
      return Object.entries(family.fields).map(([field, added]) => ({ family, field, added }));
    });
  }

  /** Adds the records of an answer and returns the samples; `now` in Unix seconds. */
  async absorb(
    records: AsyncIterable<JsonObject> | Iterable<JsonObject>,
    now: number,
    note: ReportDrop,
  ): Promise<Sample[]> {
    for await (const record of records) this.#take(record, note);
    // By the service's times, because with a clock that is ahead everything would be forgotten.
    this.#seen.forgetBefore(believedTime(this.#newest, now) - MAX_PERIOD_MS / 1000);
    return [...this.#samples(note)];
  }

  #take(raw: JsonObject, note: ReportDrop): void {
    const { fields, newestBy, isSnapshot, identity, prepared } = this.#operation;
    const serial = labelValue(raw[fields.serial]).toLowerCase();
    const endMs = parseDecimal(raw[fields.end]);
    if (serial === '' || endMs === undefined) {
      note('record', serial === '' ? fields.serial : fields.end);
      return;
    }
    const appliance = this.#applianceOf(serial);
    appliance.told = labelValue(raw[fields.name]) || appliance.told;
    if (isSnapshot?.(raw) === false) return;
    const record = prepared?.(raw) ?? raw;
    const at = endMs / 1000;
    const rank = newestBy === undefined ? at : parseDecimal(raw[newestBy]);
    if (rank !== undefined && rank >= (appliance.latest?.rank ?? rank)) appliance.latest = { rank, record };
    const id = identity(record);
    if (id === undefined) {
      note('record', 'identity');
      return;
    }
    this.#newest = Math.max(this.#newest, at);
    const isCounted = this.#parts.since.includes(at) && this.#seen.admit(`${serial} ${id}`, at);
    for (const counted of this.#counted) {
      const value = counted.family.from.read(record[counted.field]);
      if (value === undefined || value < 0) continue;
      // One from before the start creates its series with the value 0, so that increase() sees the first one.
      const count = this.#countOf(appliance, counted);
      if (!isCounted) continue;
      count.total += value;
      count.histogram?.observe(value);
    }
  }

  #applianceOf(serial: string): ApplianceSnapshots {
    return getOrCreate(this.#appliances, serial, () => {
      const created: ApplianceSnapshots = { told: '', latest: undefined, counts: new Map() };
      for (const counted of this.#counted) if (!counted.family.optional) this.#countOf(created, counted);
      return created;
    });
  }

  #countOf({ counts }: ApplianceSnapshots, counted: CountedField) {
    const { bounds } = this.#parts;
    return getOrCreate(counts, counted, () => {
      return { total: 0, histogram: counted.family.type === 'histogram' ? new Histogram(bounds) : undefined };
    });
  }

  *#samples(note: ReportDrop): Generator<Sample> {
    const { nameOf, volume } = this.#parts;
    for (const [serial, { told, latest, counts }] of this.#appliances) {
      const subject = { ...volume(), serial, filer: nameOf(serial) ?? (told || serial) };
      if (latest !== undefined) yield* toSamples(this.#latest, [latest.record], subject, note);
      for (const [{ family, added }, { total, histogram }] of counts) {
        const labels = { ...subject, ...added };
        if (histogram === undefined) yield { name: family.name, labels, value: total };
        else yield* histogram.samples(family.name, labels);
      }
    }
  }
}
