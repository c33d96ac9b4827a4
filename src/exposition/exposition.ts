import type { DropReason, Sample } from '../metrics/samples.ts';
import type { Clock } from '../runtime/clock.ts';
import { inSlices } from '../runtime/slices.ts';
import { type Body, bodyOf } from './body.ts';
import type { Coding } from './compression.ts';
import { Compressor, type CompressorSettings, quietCodec } from './compressor.ts';
import type { Format } from './format.ts';
import type { OwnMetrics } from './own/metrics.ts';
import type { ExporterStatus } from './own/status.ts';
import type { LineStore } from './store.ts';

/** The last line of an OpenMetrics exposition, which tells a whole one from one cut off. */
const END = Buffer.from('# EOF\n');

/**
 * Scrapes within this time share one writing of the exporter's own numbers, in milliseconds, unless something has been
 * published since: for many scrapers they would be most of the work, and the gauges of the process move slower.
 */
const OWN_SHARED_MS = 100;

/** What is sent of a scrape, for as long as it is held: what it is made of is not given back to the system before. */
export interface HeldBody extends Body {
  /** Nothing of it is read any more, by us or by a socket; must be called. */
  release(): void;
}

/** Everything that `/metrics` serves: the lines of upstream data, then what the exporter says about itself. */
export class Exposition {
  readonly #store: LineStore;
  readonly #own: OwnMetrics;
  readonly #read: () => Omit<ExporterStatus, 'samples'>;
  readonly #expire: () => Iterable<string>;
  readonly #clock: Clock;
  readonly #compressor: Compressor;
  readonly #mostBytes: number;
  readonly #ownTexts = new Map<Format, { version: number; at: number; text: Promise<Buffer> }>();

  /**
   * `read` gives the exporter's own numbers at the moment of a scrape; `expire` the tasks whose snapshots are not
   * fresh any more. `mostBytes`: what all lines together may take, those among them that others are about to replace.
   */
  constructor(
    store: LineStore,
    own: OwnMetrics,
    read: () => Omit<ExporterStatus, 'samples'>,
    expire: () => Iterable<string>,
    clock: Clock,
    mostBytes = Number.POSITIVE_INFINITY,
    settings: CompressorSettings = quietCodec,
  ) {
    this.#store = store;
    this.#own = own;
    this.#read = read;
    this.#expire = expire;
    this.#clock = clock;
    this.#compressor = new Compressor(store, clock, settings);
    this.#mostBytes = mostBytes;
  }

  /** Resolves when the thread pool has nothing left to compress. */
  get idle(): Promise<unknown> {
    return this.#compressor.idle;
  }

  /**
   * Puts samples in the place of the task's last ones, at once when their lines have been written, off to the side and in
   * slices. Resolves with what had to be mended, by reason. Rejects with a RequestError `oversize` where no memory is left
   * for the lines; then the last ones stand.
   */
  async accept(task: string, samples: Iterable<Sample>): Promise<ReadonlyMap<DropReason, number>> {
    const mostBytes = Math.max(0, this.#mostBytes - this.#store.bytes);
    const prepared = await inSlices(this.#store.prepare(samples, mostBytes), this.#clock);
    await this.#compressor.compressBeforehand(prepared);
    const { cut, duplicates } = this.#store.replace(task, prepared);
    this.#compressor.changed();
    const mended: (readonly [DropReason, number])[] = [
      ['label', cut],
      ['duplicate', duplicates],
    ];
    return new Map(mended.filter(([, count]) => count > 0));
  }

  /** Takes a task's samples out. */
  withdraw(task: string): void {
    this.#store.withdraw(task);
    this.#compressor.changed();
  }

  /** One moment of everything, in one buffer; what is not fresh is not in it. */
  async whole(format: Format): Promise<Buffer> {
    const body = await this.body(format, undefined);
    try {
      return Buffer.concat([...body.buffers()]);
    } finally {
      body.release();
    }
  }

  /** What is sent of a scrape; where it is to be compressed, of what is compressed already. */
  async body(format: Format, coding: Coding | undefined): Promise<HeldBody> {
    this.#withdrawStale();
    if (coding !== undefined) await this.#compressor.asked(coding);
    const release = this.#store.memory.hold();
    try {
      // Taken before anything is awaited: lines and own numbers are of one moment.
      const pieces = this.#store.pieces(format, coding);
      return { ...bodyOf([...pieces, ...(await this.#end(format))], coding), release };
    } catch (error) {
      release();
      throw error;
    }
  }

  #withdrawStale(): void {
    for (const task of this.#expire()) this.withdraw(task);
  }

  /** What stands behind those lines. */
  async #end(format: Format): Promise<readonly Buffer[]> {
    const own = await this.#ownText(format);
    return format === 'openmetrics' ? [own, END] : [own];
  }

  #ownText(format: Format): Promise<Buffer> {
    const { version, samples } = this.#store;
    const at = this.#clock.monotonic();
    const known = this.#ownTexts.get(format);
    if (known !== undefined && known.version === version && at - known.at < OWN_SHARED_MS) return known.text;
    const text = this.#own.render(format, { ...this.#read(), samples }).then((lines) => Buffer.from(lines));
    this.#ownTexts.set(format, { version, at, text });
    return text;
  }
}
