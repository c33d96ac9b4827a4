import { upstreamCatalog } from '../catalog.ts';
import { codec } from '../exposition/compression.ts';
import { Exposition } from '../exposition/exposition.ts';
import { LineStore } from '../exposition/store.ts';
import type { DropReason, Sample } from '../metrics/samples.ts';
import type { Origin, PollSink, Sink } from '../metrics/sink.ts';
import type { Api, Reading } from '../metrics/snapshot.ts';
import type { Environment } from './environment.ts';

/** Counts values without a sample. */
export type CountDrop = (api: Api, reason: DropReason, count: number) => void;

/**
 * Passes each reading to the further outputs, then what they leave to `/metrics`. Counts dropped and corrected values once,
 * however many outputs there are.
 */
export class Outputs implements PollSink {
  readonly #exposition: Pick<Exposition, 'accept' | 'publish' | 'withdraw'>;
  readonly #count: CountDrop;
  readonly #further: readonly Sink[];

  constructor(
    exposition: Pick<Exposition, 'accept' | 'publish' | 'withdraw'>,
    count: CountDrop,
    further: readonly Sink[] = [],
  ) {
    this.#exposition = exposition;
    this.#count = count;
    this.#further = further;
  }

  async accept(origin: Origin, reading: Reading): Promise<void> {
    let exposed = reading;
    for (const sink of this.#further) {
      await sink.accept(origin, reading);
      exposed = sink.leaves?.(exposed) ?? exposed;
    }
    const corrected = await this.#exposition.accept(origin.id, exposed.samples);
    for (const [reason, count] of [...reading.drops, ...corrected]) this.#count(origin.api, reason, count);
  }

  conclude({ id, api }: Origin, samples: Iterable<Sample>): void {
    for (const [reason, count] of this.#exposition.publish(id, samples)) this.#count(api, reason, count);
  }

  withdraw(id: string, keepsCounts = false): void {
    this.#exposition.withdraw(id, keepsCounts);
    for (const sink of this.#further) sink.withdraw(id, keepsCounts);
  }
}

/**
 * The limit for all lines, as a share of the heap's limit; they are outside the heap, where a container has as much
 * memory again. Three times what the lines of a fleet take that the container is large enough for.
 */
const LINES_SHARE = 1 / 3;

export function expositionOf({ clock, log, heapBytes = Number.POSITIVE_INFINITY }: Environment): Exposition {
  return new Exposition(new LineStore(upstreamCatalog), clock, heapBytes * LINES_SHARE, {
    ...codec,
    failed: (err) => log.error({ err }, 'compression failed; serving uncompressed'),
  });
}
