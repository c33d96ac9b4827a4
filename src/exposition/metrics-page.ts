import type { ExporterStatus } from '../status/exporter-status.ts';
import type { ResponseBody } from './body.ts';
import type { ExporterMetrics } from './exporter/metrics.ts';
import type { Format } from './format.ts';
import { gzip } from './gzip.ts';
import type { LineStore } from './store.ts';

/** The last line in OpenMetrics, by which a scraper recognizes a complete exposition. */
const END = '# EOF\n';

export interface MetricsPageOptions {
  readonly exposition: LineStore;
  readonly own: ExporterMetrics;
  readonly status: () => Omit<ExporterStatus, 'samples'>;
  /** Withdraws stale data, and brings states up to date. */
  readonly review: () => void;
}

/** Everything that `/metrics` serves: the fresh data of the services, then the metrics about the exporter itself. */
export class MetricsPage {
  readonly #options: MetricsPageOptions;
  /** The compressed pages in progress: scrapes at the same time share one, because compressing is most of the work. */
  readonly #compressing = new Map<Format, Promise<ResponseBody>>();

  constructor(options: MetricsPageOptions) {
    this.#options = options;
  }

  /** Returns the exposition in one buffer. */
  async render(format: Format): Promise<Buffer> {
    const { buffers } = await this.#plain(format);
    return Buffer.concat([...buffers()]);
  }

  body(format: Format, isCompressed: boolean): Promise<ResponseBody> {
    if (!isCompressed) return this.#plain(format);
    const existing = this.#compressing.get(format);
    if (existing !== undefined) return existing;
    const compressed = this.#plain(format)
      .then(gzip)
      .finally(() => this.#compressing.delete(format));
    this.#compressing.set(format, compressed);
    return compressed;
  }

  /** Withdraws stale lines, takes a snapshot of the others, and reads the metrics about the exporter itself right after. */
  async #plain(format: Format): Promise<ResponseBody> {
    const { exposition, own, status, review } = this.#options;
    review();
    const { samples } = exposition;
    const snapshot = exposition.snapshot(format);
    const lines = await own.render(format, { ...status(), samples });
    const end = Buffer.from(format === 'openmetrics' ? lines + END : lines);
    function* buffers(): Generator<Buffer> {
      yield* snapshot.buffers();
      yield end;
    }
    return { length: snapshot.length + end.length, buffers };
  }
}
