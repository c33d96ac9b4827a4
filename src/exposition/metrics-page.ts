import type { Clock } from '../runtime/clock.ts';
import type { ExporterStatus } from '../status/model.ts';
import type { ResponseBody } from './body.ts';
import type { ExporterMetrics } from './exporter/metrics.ts';
import type { Exposition } from './exposition.ts';
import type { Format } from './format.ts';
import { gzipBody } from './gzip.ts';

/** The last line in OpenMetrics: without it an exposition was cut off. */
const END = '# EOF\n';

/** Scrapes within this time, in milliseconds, share what was made for the first of them. */
const SHARED_MS = 100;

export interface ScrapesOptions {
  readonly exposition: Exposition;
  readonly own: ExporterMetrics;
  readonly status: () => Promise<Omit<ExporterStatus, 'samples'>>;
  /** Withdraws stale data. */
  readonly expire: () => Promise<unknown>;
  readonly clock: Clock;
}

/** Everything that `/metrics` serves: fresh lines of upstream data, then the exporter's own metrics. */
export class MetricsPage {
  readonly #settings: ScrapesOptions;
  readonly #ends = new Map<Format, { readonly version: number; readonly at: number; readonly made: Promise<Buffer> }>();
  readonly #compressed = new Map<Format, { until: number; readonly made: Promise<ResponseBody> }>();

  constructor(settings: ScrapesOptions) {
    this.#settings = settings;
  }

  /** The exposition of one moment, in one buffer. */
  async render(format: Format): Promise<Buffer> {
    return Buffer.concat(Array.from((await this.#plain(format)).buffers(), (buffer) => Buffer.from(buffer)));
  }

  body(format: Format, gzip: boolean): Promise<ResponseBody> {
    return gzip ? this.#gzip(format) : this.#plain(format);
  }

  async #plain(format: Format): Promise<ResponseBody> {
    const { moment, made } = await this.#now(format);
    const end = await made;
    function* buffers(): Generator<Buffer> {
      yield* moment.buffers();
      yield end;
    }
    return { length: moment.bytes + end.length, buffers };
  }

  /** Shared also when lines have changed since: compressing the page is most of the work, and takes longer with more. */
  #gzip(format: Format): Promise<ResponseBody> {
    const { clock } = this.#settings;
    const known = this.#compressed.get(format);
    const at = clock.monotonic();
    if (known !== undefined && at < known.until) return known.made;
    const made = this.#deflated(format);
    const shared = { made, until: Number.POSITIVE_INFINITY };
    const ended = () => {
      shared.until = at + SHARED_MS;
    };
    made.then(ended, ended);
    this.#compressed.set(format, shared);
    return made;
  }

  async #deflated(format: Format): Promise<ResponseBody> {
    const { moment, made } = await this.#now(format);
    const [lines, end] = await Promise.all([moment.deflated(), made]);
    return gzipBody(lines, end);
  }

  /** The lines of one moment, without stale ones, and the exporter's own metrics, which are read right after. */
  async #now(format: Format) {
    const { exposition, own, status, expire, clock } = this.#settings;
    await expire();
    const { version, samples } = exposition;
    const moment = exposition.snapshot(format);
    const at = clock.monotonic();
    const known = this.#ends.get(format);
    if (known !== undefined && known.version === version && at - known.at < SHARED_MS) return { moment, ...known };
    const made = status()
      .then((told) => own.render(format, { ...told, samples }))
      .then((lines) => Buffer.from(format === 'openmetrics' ? lines + END : lines));
    this.#ends.set(format, { version, at, made });
    return { moment, made };
  }
}
