import type { Fields } from '../../../metrics/family.ts';
import { Histogram } from '../../../metrics/histogram.ts';
import { type NoteDrop, type Sample, text, toSamples } from '../../../metrics/samples.ts';
import { listed } from '../records.ts';
import { type LedgerParts, PerAppliance, placeOf, type SnapshotLedger } from './snapshot-ledgers.ts';
import { latestPropagationTable, propagation } from './snapshot-tables.ts';

interface Propagated {
  latest: { readonly at: number; readonly record: Fields } | undefined;
  readonly durations: Histogram;
}

/** Snapshots that reached other appliances (`snapshot_propagation_by_appliance`), by the receiving appliance. */
export class PropagatedSnapshots implements SnapshotLedger {
  readonly #parts: LedgerParts;
  readonly #appliances: PerAppliance<Propagated>;

  constructor(parts: LedgerParts) {
    this.#parts = parts;
    const { bounds } = parts.histograms;
    this.#appliances = new PerAppliance(parts, () => ({ latest: undefined, durations: new Histogram(bounds) }));
  }

  *absorb(body: unknown, now: number, note: NoteDrop): Generator<void, Sample[]> {
    for (const record of listed(body, 'snapshot_propagation_by_appliance', note)) {
      const place = placeOf(record, 'sync_serial_number', 'sync_time', note);
      if (place !== undefined) {
        const { serial, at } = place;
        const propagated = this.#appliances.of(serial, text(record.sync_appliance));
        if (propagated.latest === undefined || at >= propagated.latest.at) propagated.latest = { at, record };
        const took = propagation.from.read(record.propagation_duration);
        const id = `${serial} ${text(record.snapshot_serial_number)} ${text(record.snapshot_version)}`;
        if (this.#appliances.counts(id, at) && took !== undefined) propagated.durations.observe(took);
      }
      yield;
    }
    this.#appliances.answered(now);
    return [...this.#samples(note)];
  }

  *#samples(note: NoteDrop): Generator<Sample> {
    for (const [labels, { latest, durations }] of this.#appliances.entries()) {
      if (latest !== undefined) yield* toSamples(latestPropagationTable, [latest.record], labels, note);
      yield* durations.samples(propagation.name, labels, this.#parts.histograms.boundText);
    }
  }
}
