import type { Fields } from '../../../metrics/family.ts';
import { Histogram } from '../../../metrics/histogram.ts';
import { type NoteDrop, type Sample, text, toSamples } from '../../../metrics/samples.ts';
import { decimal } from '../../../metrics/units.ts';
import { listed } from '../records.ts';
import { type LedgerParts, PerAppliance, placeOf, type SnapshotLedger } from './snapshot-ledgers.ts';
import { latestSnapshotTable, phaseDuration, snapshotFiles, snapshotsTotal, timeToProtect } from './snapshot-tables.ts';

const PROTECT = 'protect_mean';

interface Finished {
  latest: { readonly at: number; readonly record: Fields } | undefined;
  snapshots: number;
  readonly files: Map<string, number>;
  /** By the field of the duration. */
  readonly durations: Map<string, Histogram>;
}

/** Finished snapshots (`snapshot_details`): the newest of each appliance, and every one counted once by its version. */
export class FinishedSnapshots implements SnapshotLedger {
  readonly #parts: LedgerParts;
  readonly #appliances: PerAppliance<Finished>;

  constructor(parts: LedgerParts) {
    this.#parts = parts;
    this.#appliances = new PerAppliance(parts, () => ({
      latest: undefined,
      snapshots: 0,
      files: new Map(),
      durations: new Map(),
    }));
  }

  *absorb(body: unknown, now: number, note: NoteDrop): Generator<void, Sample[]> {
    for (const raw of listed(body, 'snapshot_details', note)) {
      const place = placeOf(raw, 'serial_number', 'time', note);
      if (place !== undefined) this.#take(withDurations(raw), place.serial, place.at, note);
      yield;
    }
    this.#appliances.answered(now);
    return [...this.#samples(note)];
  }

  #take(record: Fields, serial: string, at: number, note: NoteDrop): void {
    const finished = this.#appliances.of(serial, text(record.appliance));
    if (finished.latest === undefined || at >= finished.latest.at) finished.latest = { at, record };
    const version = decimal(record.volume_version);
    if (version === undefined) {
      note('record', 'volume_version');
      return;
    }
    // One from before the start creates its series with the value 0, so that increase() sees the first one.
    const isCounted = this.#appliances.counts(`${serial} ${version}`, at);
    if (isCounted) finished.snapshots += 1;
    for (const field of Object.keys(snapshotFiles.fields)) {
      const files = snapshotFiles.from.read(record[field]);
      if (files === undefined || files < 0) continue;
      finished.files.set(field, (finished.files.get(field) ?? 0) + (isCounted ? files : 0));
    }
    this.#observe(finished.durations, PROTECT, timeToProtect.from.read(record.protect_mean), isCounted);
    for (const field of Object.keys(phaseDuration.fields)) {
      this.#observe(finished.durations, field, phaseDuration.from.read(record[field]), isCounted);
    }
  }

  #observe(durations: Map<string, Histogram>, name: string, seconds: number | undefined, isCounted: boolean): void {
    if (seconds === undefined) return;
    const histogram = durations.get(name) ?? new Histogram(this.#parts.histograms.bounds);
    durations.set(name, histogram);
    if (isCounted) histogram.observe(seconds);
  }

  *#samples(note: NoteDrop): Generator<Sample> {
    const { boundText } = this.#parts.histograms;
    for (const [labels, { latest, snapshots, files, durations }] of this.#appliances.entries()) {
      if (latest !== undefined) yield* toSamples(latestSnapshotTable, [latest.record], labels, note);
      yield { name: snapshotsTotal.name, labels, value: snapshots };
      for (const [field, added] of Object.entries(snapshotFiles.fields)) {
        const value = files.get(field);
        if (value !== undefined) yield { name: snapshotFiles.name, labels: { ...labels, ...added }, value };
      }
      const protect = durations.get(PROTECT);
      if (protect !== undefined) yield* protect.samples(timeToProtect.name, labels, boundText);
      for (const [field, added] of Object.entries(phaseDuration.fields)) {
        const histogram = durations.get(field);
        if (histogram === undefined) continue;
        yield* histogram.samples(phaseDuration.name, { ...labels, ...added }, boundText);
      }
    }
  }
}

/** The record with the duration of each phase in seconds instead of its end; a phase without both times is left out. */
function withDurations(record: Fields): Fields {
  const took = (phase: string) => {
    const [start, end] = [decimal(record[`${phase}_snapshot_start`]), decimal(record[`${phase}_snapshot_end`])];
    return start === undefined || end === undefined || end < start ? undefined : (end - start) / 1000;
  };
  return { ...record, data_snapshot_end: took('data'), metadata_snapshot_end: took('metadata') };
}
