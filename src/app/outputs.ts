import { upstreamCatalog } from '../catalog.ts';
import { Exposition } from '../exposition/exposition.ts';
import type { OwnMetrics } from '../exposition/own/metrics.ts';
import { LineStore } from '../exposition/store.ts';
import type { Sample } from '../metrics/samples.ts';
import type { Origin, PollSink, Sink } from '../metrics/sink.ts';
import type { Reading } from '../metrics/snapshot.ts';
import type { Environment } from './environment.ts';

interface OutputParts {
  readonly exposition: Exposition;
  readonly own: OwnMetrics;
  readonly further: readonly Sink[];
}

/** Passes each reading to the further outputs, then what they leave to `/metrics`. Counts dropped values once. */
export class Outputs implements PollSink {
  readonly #parts: OutputParts;

  constructor(parts: OutputParts) {
    this.#parts = parts;
  }

  async accept(origin: Origin, reading: Reading): Promise<void> {
    const { exposition, own, further } = this.#parts;
    let exposed = reading;
    for (const sink of further) {
      await sink.accept(origin, reading);
      exposed = sink.leaves?.(exposed) ?? exposed;
    }
    const corrected = await exposition.accept(origin.id, exposed.samples);
    for (const [reason, count] of [...reading.drops, ...corrected]) own.dropped(origin.api, reason, count);
  }

  conclude({ id, api }: Origin, samples: Iterable<Sample>): void {
    const { exposition, own } = this.#parts;
    for (const [reason, count] of exposition.publish(id, samples)) own.dropped(api, reason, count);
  }

  withdraw(id: string, keepsCounts = false): void {
    this.#parts.exposition.withdraw(id, keepsCounts);
    for (const sink of this.#parts.further) sink.withdraw(id, keepsCounts);
  }
}

/**
 * The limit for all lines, as a share of the heap's limit: three times the lines of the largest fleet for which the container
 * is large enough.
 */
const LINES_SHARE = 1 / 3;

export function expositionOf({ clock, heapBytes = Number.POSITIVE_INFINITY }: Environment): Exposition {
  return new Exposition(new LineStore(upstreamCatalog), clock, heapBytes * LINES_SHARE);
}
