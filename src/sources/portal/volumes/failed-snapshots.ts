import { isFields } from '../../../metrics/family.ts';
import { type NoteDrop, type Sample, text, toSamples } from '../../../metrics/samples.ts';
import { ShapeError } from '../../../runtime/errors.ts';
import { objectOf } from '../records.ts';
import { type LedgerParts, PerAppliance, placeOf, type SnapshotLedger } from './snapshot-ledgers.ts';
import { latestMetadataFailure, metadataFailures } from './snapshot-tables.ts';

interface Failures {
  count: number;
  /** Epoch milliseconds of the newest. */
  latestMs: number | undefined;
}

/** Failed metadata snapshots (`snapshot_timeline`), each counted once; an appliance without any has a zero. */
export class FailedSnapshots implements SnapshotLedger {
  readonly #appliances: PerAppliance<Failures>;

  constructor(parts: LedgerParts) {
    this.#appliances = new PerAppliance(parts, () => ({ count: 0, latestMs: undefined }));
  }

  *absorb(body: unknown, now: number, note: NoteDrop): Generator<void, Sample[]> {
    const { metadata_events } = objectOf(body, 'snapshot_timeline');
    if (!Array.isArray(metadata_events)) {
      throw new ShapeError('reading snapshot_timeline: metadata_events: expected a list');
    }
    for (const event of metadata_events) {
      const place = isFields(event) ? placeOf(event, 'serial_number', 'end_time', note) : undefined;
      if (!isFields(event)) note('record', 'metadata_events');
      else if (place !== undefined) {
        const failures = this.#appliances.of(place.serial, text(event.appliance));
        if (text(event.phase) === 'metadata_snapshot_failed') {
          const id = `${place.serial} ${text(event.volume_version)} ${text(event.start_time)}`;
          failures.latestMs = Math.max(failures.latestMs ?? 0, place.at * 1000);
          if (this.#appliances.counts(id, place.at)) failures.count += 1;
        }
      }
      yield;
    }
    this.#appliances.answered(now);
    return [...this.#appliances.entries()].flatMap(([labels, { count, latestMs }]) => [
      { name: metadataFailures.name, labels, value: count },
      ...(latestMs === undefined ? [] : toSamples([latestMetadataFailure], [{ end_time: latestMs }], labels)),
    ]);
  }
}
