import { keptNumber, keptText } from '../../metrics/restored-values.ts';
import { type Sample, toSamples } from '../../metrics/samples.ts';
import { type Dated, type DatedState, datedOf, stateOfDated } from './dated.ts';
import { recordTimestamp, volumeTable } from './series.ts';

interface VolumeState {
  readonly dated: Dated;
  /** Monotonic milliseconds of the latest answer that had a record of it. */
  confirmedAt: number;
}

/** The newest record of each volume. */
export class Volumes {
  readonly #most: number;
  readonly #states = new Map<string, VolumeState>();

  constructor(most: number) {
    this.#most = most;
  }

  hasRoomFor(guid: string): boolean {
    return this.#states.has(guid) || this.#states.size < this.#most;
  }

  /** A late record confirms that the volume is there, and changes nothing. */
  take(guid: string, dated: Dated, now: number): void {
    const held = this.#states.get(guid);
    if (held === undefined || dated.at >= held.dated.at) this.#states.set(guid, { dated, confirmedAt: now });
    else held.confirmedAt = now;
  }

  *samples(titleOf: (guid: string) => string): Generator<Sample> {
    for (const [guid, { dated }] of this.#states) {
      const labels = { volume_guid: guid, volume: titleOf(guid) };
      yield* toSamples(volumeTable, [dated.record], labels);
      yield* toSamples([recordTimestamp], [dated.record], { filer_guid: '', filer: '', ...labels, group: 'volumes' });
    }
  }

  /** Drops those that are not known any more, or that no answer has confirmed since `before`. */
  retire(isKnown: (guid: string) => boolean, before: number): void {
    for (const [guid, { confirmedAt }] of this.#states) {
      if (!isKnown(guid) || confirmedAt < before) this.#states.delete(guid);
    }
  }

  state(now: number): VolumesState {
    return [...this.#states].map(([guid, { dated, confirmedAt }]) => [guid, stateOfDated(dated), now - confirmedAt]);
  }

  restore(saved: VolumesState, now: number): void {
    for (const [guid, dated, ageMs] of saved) {
      this.#states.set(keptText(guid), { dated: datedOf(dated), confirmedAt: now - keptNumber(ageMs) });
    }
  }
}

/** The records of volumes, as saved in the state file. */
export type VolumesState = readonly (readonly [guid: string, dated: DatedState, ageMs: number])[];
