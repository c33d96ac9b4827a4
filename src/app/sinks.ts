import { upstreamCatalog } from '../catalog.ts';
import type { PollResult } from '../contract/poll-result.ts';
import type { PollSink, ResultSource, Sink } from '../contract/sink.ts';
import type { ExporterMetrics } from '../exposition/exporter/metrics.ts';
import { Exposition } from '../exposition/exposition.ts';
import { LineStore } from '../exposition/store.ts';
import type { Sample } from '../metrics/samples.ts';
import type { Environment } from './environment.ts';

interface OutputDependencies {
  readonly exposition: Exposition;
  readonly own: ExporterMetrics;
  readonly further: readonly Sink[];
}

/** Passes each reading to the further outputs, then what they leave to `/metrics`. Counts dropped values once. */
export class SinkFanOut implements PollSink {
  readonly #parts: OutputDependencies;

  constructor(parts: OutputDependencies) {
    this.#parts = parts;
  }

  async accept(origin: ResultSource, reading: PollResult): Promise<void> {
    const { exposition, own, further } = this.#parts;
    let exposed = reading;
    for (const sink of further) {
      await sink.accept(origin, reading);
      exposed = sink.leaves?.(exposed) ?? exposed;
    }
    const corrected = await exposition.accept(origin.id, exposed.samples);
    for (const [reason, count] of [...reading.drops, ...corrected]) own.dropped(origin.api, reason, count);
  }

  publishState({ id, api }: ResultSource, samples: Iterable<Sample>): void {
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

export function createExposition({ clock, heapBytes = Number.POSITIVE_INFINITY }: Environment): Exposition {
  return new Exposition(new LineStore(upstreamCatalog), clock, heapBytes * LINES_SHARE);
}
