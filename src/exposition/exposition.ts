import type { DropReason } from '../metrics/samples.ts';
import type { Snapshot } from '../metrics/snapshot.ts';
import type { ExporterReading, OwnMetrics } from './own.ts';
import type { ChunkStore } from './store.ts';
import type { Format } from './text.ts';

/** The last line of an OpenMetrics exposition, which tells a whole one from one cut off. */
const END = Buffer.from('# EOF\n');

/** Everything that `/metrics` serves: the chunks of upstream data, then what the exporter says about itself. */
export class Exposition {
  readonly #store: ChunkStore;
  readonly #own: OwnMetrics;
  readonly #read: () => ExporterReading;
  readonly #expire: () => Iterable<string>;

  /**
   * `read` gives the exporter's own numbers at the moment of a scrape; `expire` the tasks whose snapshots are not
   * fresh any more.
   */
  constructor(store: ChunkStore, own: OwnMetrics, read: () => ExporterReading, expire: () => Iterable<string>) {
    this.#store = store;
    this.#own = own;
    this.#read = read;
    this.#expire = expire;
  }

  /** Puts a snapshot in the place of its task's last one. Tells what had to be mended, by reason. */
  publish(snapshot: Snapshot): ReadonlyMap<DropReason, number> {
    const { cut, duplicates } = this.#store.publish(snapshot);
    const mended: (readonly [DropReason, number])[] = [
      ['label', cut],
      ['duplicate', duplicates],
    ];
    return new Map(mended.filter(([, count]) => count > 0));
  }

  /** Takes a task's samples out. */
  withdraw(task: string): void {
    this.#store.withdraw(task);
  }

  /** One moment of everything, as buffers in order; what is not fresh is not in it. */
  async moment(format: Format): Promise<readonly Buffer[]> {
    for (const task of this.#expire()) this.#store.withdraw(task);
    const reading = this.#read();
    // Taken before anything is awaited: chunks and own numbers are of one moment.
    const { buffers } = this.#store.moment(format);
    const own = Buffer.from(await this.#own.render(format, { ...reading, samples: this.#store.samples }));
    return format === 'openmetrics' ? [...buffers, own, END] : [...buffers, own];
  }
}
