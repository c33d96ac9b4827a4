import type { Fields, Labels } from '../../../metrics/family.ts';
import type { HistogramSettings } from '../../../metrics/histogram.ts';
import { type NoteDrop, type Sample, text } from '../../../metrics/samples.ts';
import { Seen } from '../../../metrics/seen-ids.ts';
import { decimal } from '../../../metrics/units.ts';
import type { Beginning } from '../../../runtime/beginning.ts';

/** What is counted of one volume, from one operation. */
export interface SnapshotLedger {
  /**
   * Folds an answer in and gives what there is to say; `now` in Unix seconds. Throws a ShapeError when it is no answer at
   * all.
   */
  absorb(body: unknown, now: number, note: NoteDrop): Generator<void, Sample[]>;
}

/** What a ledger is built from. */
export interface LedgerParts {
  /** The labels of the volume as it is called now. */
  readonly volume: () => Labels;
  /** Only what ended from here on is counted. */
  readonly since: Pick<Beginning, 'includes'>;
  readonly histograms: HistogramSettings;
  /** The name of an appliance in the inventory. */
  readonly nameOf: (serial: string) => string | undefined;
}

/** The longest period that the service takes, in milliseconds (upstream-api.md 4.1): what is older never comes. */
export const LONGEST_PERIOD_MS = 30 * 86_400_000;

/** Things remembered of one volume at most; a volume makes some thousand snapshots a month. */
const MOST_REMEMBERED = 20_000;

/** What is known of each appliance of one volume: labels by the newest name, and each thing counted once. */
export class PerAppliance<Value> {
  readonly #parts: LedgerParts;
  readonly #create: () => Value;
  readonly #seen = new Seen(MOST_REMEMBERED);
  readonly #values = new Map<string, { told: string; readonly value: Value }>();
  /** When the newest thing ended, in Unix seconds. */
  #newest = Number.NEGATIVE_INFINITY;
  /** What ended before was counted and is forgotten, in Unix seconds. */
  #horizon = Number.NEGATIVE_INFINITY;

  /** `create`: what is known of an appliance that has not been heard of yet. */
  constructor(parts: LedgerParts, create: () => Value) {
    this.#parts = parts;
    this.#create = create;
  }

  /** What is known of an appliance. `told`: the name that the record has for it. */
  of(serial: string, told: string): Value {
    const entry = this.#values.get(serial) ?? { told, value: this.#create() };
    entry.told = told || entry.told;
    this.#values.set(serial, entry);
    return entry.value;
  }

  /** Whether this counts: it ended since the exporter started, and was not counted yet. `at`: Unix seconds. */
  counts(id: string, at: number): boolean {
    this.#newest = Math.max(this.#newest, at);
    return at >= this.#horizon && this.#parts.since.includes(at) && this.#seen.admit(id, at);
  }

  /** An answer has been read, at `now` in Unix seconds: forgets what cannot come again. */
  answered(now: number): void {
    // By the service's times, for a clock that is ahead would have everything forgotten; but they may be in the future.
    this.#horizon = Math.max(this.#horizon, Math.min(this.#newest, now) - LONGEST_PERIOD_MS / 1000);
    this.#seen.forgetBefore(this.#horizon);
  }

  /** Every appliance with its labels. */
  *entries(): Generator<readonly [Labels, Value]> {
    for (const [serial, { told, value }] of this.#values) {
      const filer = this.#parts.nameOf(serial) ?? (told || serial);
      yield [{ ...this.#parts.volume(), serial, filer }, value];
    }
  }
}

/** The serial that a record names and the moment that it is about in Unix seconds; undefined, and noted, where one is missing. */
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
