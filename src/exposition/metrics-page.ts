import type { Clock } from '../runtime/clock.ts';
import type { ExporterStatus } from '../status/model.ts';
import type { ResponseBody } from './body.ts';
import type { ExporterMetrics } from './exporter/metrics.ts';
import type { Format } from './format.ts';
import { deflate, gzipBody } from './gzip.ts';
import type { LineStore } from './store.ts';

/** The last line in OpenMetrics, by which a scraper recognizes a complete exposition. */
const END = '# EOF\n';

/** How long scrapes share the page that was created for the first of them, in milliseconds. */
const SHARED_MS = 100;

export interface MetricsPageOptions {
  readonly exposition: LineStore;
  readonly own: ExporterMetrics;
  readonly status: () => Promise<Omit<ExporterStatus, 'samples'>>;
  /** Withdraws stale data, and brings states up to date. */
  readonly review: () => void;
  readonly clock: Clock;
}

/** Everything that `/metrics` serves: the fresh data of the services, then the metrics about the exporter itself. */
export class MetricsPage {
  readonly #options: MetricsPageOptions;
  readonly #ownLines = new Map<
    Format,
    { readonly version: number; readonly at: number; readonly lines: Promise<Buffer> }
  >();
  readonly #compressed = new Map<Format, { until: number; readonly made: Promise<ResponseBody> }>();

  constructor(options: MetricsPageOptions) {
    this.#options = options;
  }

  /** Returns the exposition in one buffer. */
  async render(format: Format): Promise<Buffer> {
    return Buffer.concat(Array.from((await this.#plain(format)).buffers(), (buffer) => Buffer.from(buffer)));
  }

  body(format: Format, gzip: boolean): Promise<ResponseBody> {
    return gzip ? this.#gzip(format) : this.#plain(format);
  }

  async #plain(format: Format): Promise<ResponseBody> {
    const { snapshot, ownLines } = await this.#take(format);
    const end = await ownLines;
    function* buffers(): Generator<Buffer> {
      yield* snapshot.buffers();
      yield end;
    }
    return { length: snapshot.length + end.length, buffers };
  }

  /** Shares the compressed page even if lines have changed since, because compressing is most of the work. */
  #gzip(format: Format): Promise<ResponseBody> {
    const { clock } = this.#options;
    const existing = this.#compressed.get(format);
    const startedAt = clock.monotonic();
    if (existing !== undefined && startedAt < existing.until) return existing.made;
    const made = this.#compress(format);
    const shared = { made, until: Number.POSITIVE_INFINITY };
    const startExpiry = () => {
      shared.until = startedAt + SHARED_MS;
    };
    made.then(startExpiry, startExpiry);
    this.#compressed.set(format, shared);
    return made;
  }

  async #compress(format: Format): Promise<ResponseBody> {
    const { snapshot, ownLines } = await this.#take(format);
    const [lines, end] = await Promise.all([deflate(snapshot.buffers()), ownLines]);
    return gzipBody(lines, end);
  }

  /** Withdraws stale lines, takes a snapshot of the others, and reads the metrics about the exporter itself right after. */
  async #take(format: Format) {
    const { exposition, own, status, review, clock } = this.#options;
    review();
    const { version, samples } = exposition;
    const snapshot = exposition.snapshot(format);
    const at = clock.monotonic();
    const shared = this.#ownLines.get(format);
    if (shared !== undefined && shared.version === version && at - shared.at < SHARED_MS) {
      return { snapshot, ownLines: shared.lines };
    }
    const ownLines = status()
      .then((report) => own.render(format, { ...report, samples }))
      .then((lines) => Buffer.from(format === 'openmetrics' ? lines + END : lines));
    this.#ownLines.set(format, { version, at, lines: ownLines });
    return { snapshot, ownLines };
  }
}
