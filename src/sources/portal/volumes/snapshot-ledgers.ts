import type { Fields, Labels } from '../../../metrics/family.ts';
import type { HistogramSettings } from '../../../metrics/histogram.ts';
import { type NoteDrop, type Sample, text } from '../../../metrics/samples.ts';
import { Seen } from '../../../metrics/seen-ids.ts';
import { decimal } from '../../../metrics/units.ts';
import type { CountingStart } from '../../../runtime/counting-start.ts';

/** The counts of one volume from one operation. */
export interface SnapshotLedger {
  /**
   * Adds an answer and returns the samples; `now` in Unix seconds. Throws a ShapeError if the body is not such an
   * answer.
   */
  absorb(body: unknown, now: number, note: NoteDrop): Generator<void, Sample[]>;
}

export interface LedgerParts {
  /** The current labels of the volume. */
  readonly volume: () => Labels;
  /** Only snapshots that ended from here on are counted. */
  readonly since: Pick<CountingStart, 'includes'>;
  readonly histograms: HistogramSettings;
  /** The name of an appliance in the inventory. */
  readonly nameOf: (serial: string) => string | undefined;
}

/** The longest period that the service accepts, in milliseconds (upstream-api.md 4.1): older records never arrive. */
export const LONGEST_PERIOD_MS = 30 * 86_400_000;

/** The most snapshots to remember for one volume, which makes some thousand a month. */
const MOST_REMEMBERED = 20_000;

/** The state of each appliance of one volume: labels with the newest name, and each snapshot counted once. */
export class PerAppliance<Value> {
  readonly #parts: LedgerParts;
  readonly #create: () => Value;
  readonly #seen = new Seen(MOST_REMEMBERED);
  readonly #values = new Map<string, { told: string; readonly value: Value }>();
  /** The newest end of a snapshot, in Unix seconds. */
  #newest = Number.NEGATIVE_INFINITY;
  /** Snapshots that ended earlier were counted and are forgotten, in Unix seconds. */
  #horizon = Number.NEGATIVE_INFINITY;

  /** `create`: the initial state of a new appliance. */
  constructor(parts: LedgerParts, create: () => Value) {
    this.#parts = parts;
    this.#create = create;
  }

  /** The state of an appliance. `told`: its name in the record. */
  of(serial: string, told: string): Value {
    const entry = this.#values.get(serial) ?? { told, value: this.#create() };
    entry.told = told || entry.told;
    this.#values.set(serial, entry);
    return entry.value;
  }

  /** Whether to count a snapshot: it ended since the exporter started, and was not counted yet. `at`: Unix seconds. */
  counts(id: string, at: number): boolean {
    this.#newest = Math.max(this.#newest, at);
    return at >= this.#horizon && this.#parts.since.includes(at) && this.#seen.admit(id, at);
  }

  /** An answer has been read, at `now` in Unix seconds: forgets what cannot arrive again. */
  answered(now: number): void {
    // By the service's times, because with a clock that is ahead everything would be forgotten; but no later than now.
    this.#horizon = Math.max(this.#horizon, Math.min(this.#newest, now) - LONGEST_PERIOD_MS / 1000);
    this.#seen.forgetBefore(this.#horizon);
  }

  *entries(): Generator<readonly [Labels, Value]> {
    for (const [serial, { told, value }] of this.#values) {
      const filer = this.#parts.nameOf(serial) ?? (told || serial);
      yield [{ ...this.#parts.volume(), serial, filer }, value];
    }
  }
}

/** The serial in a record, and its time in Unix seconds; undefined, and noted, if one is missing. */
export function placeOf(
  record: Fields,
  serialField: string,
  timeField: string,
  note: NoteDrop,
): { readonly serial: string; readonly at: number } | undefined {
  const serial = text(record[serialField]).toLowerCase();
  const ms = decimal(record[timeField]);
  if (serial !== '' && ms !== undefined) return { serial, at: ms / 1000 };
  note('record', serial === '' ? serialField : timeField);
  return undefined;
}
