import type { Clock } from '../runtime/clock.ts';
import type { ExporterStatus } from '../status/model.ts';
import type { Coding } from './compression.ts';
import type { Exposition, HeldBody } from './exposition.ts';
import type { Format } from './format.ts';
import type { OwnMetrics } from './own/metrics.ts';

/** The last line in OpenMetrics: without it an exposition was cut off. */
const END = Buffer.from('# EOF\n');

/**
 * Scrapes within this time, in milliseconds, share one text of the exporter's own metrics, unless the data has changed:
 * with many scrapers it would be most of the work.
 */
const OWN_SHARED_MS = 100;

export interface ScrapesSettings {
  readonly exposition: Exposition;
  readonly own: OwnMetrics;
  readonly status: () => Omit<ExporterStatus, 'samples'>;
  /** Withdraws stale data. */
  readonly expire: () => void;
  readonly clock: Clock;
}

/** Everything that `/metrics` serves: fresh lines of upstream data, then the exporter's own metrics. */
export class Scrapes {
  readonly #settings: ScrapesSettings;
  readonly #ownTexts = new Map<Format, { version: number; at: number; text: Promise<Buffer> }>();

  constructor(settings: ScrapesSettings) {
    this.#settings = settings;
  }

  /** The exposition of one moment, in one buffer. */
  async whole(format: Format): Promise<Buffer> {
    const body = await this.body(format, undefined);
    try {
      return Buffer.concat([...body.buffers()]);
    } finally {
      body.release();
    }
  }

  body(format: Format, coding: Coding | undefined): Promise<HeldBody> {
    const { exposition, expire } = this.#settings;
    expire();
    return exposition.body(format, coding, async () => {
      const own = await this.#ownText(format);
      return format === 'openmetrics' ? [own, END] : [own];
    });
  }

  #ownText(format: Format): Promise<Buffer> {
    const { exposition, own, status, clock } = this.#settings;
    const { version, samples } = exposition;
    const at = clock.monotonic();
    const known = this.#ownTexts.get(format);
    if (known !== undefined && known.version === version && at - known.at < OWN_SHARED_MS) return known.text;
    const text = own.render(format, { ...status(), samples }).then((lines) => Buffer.from(lines));
    this.#ownTexts.set(format, { version, at, text });
    return text;
  }
}
