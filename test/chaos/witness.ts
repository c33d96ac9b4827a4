import type { StandIn } from '../../src/demo/stand-in.ts';
import type { Clock } from '../../src/runtime/clock.ts';
import type { Scrape } from '../support/scrape.ts';
import { INTERVAL_MS, SERIES, TOLD } from './told.ts';
import type { Trouble } from './trouble.ts';

const DAY_MS = 86_400_000;

/** Who stands between exporter and services, and knows what was answered when: holds what is exposed against it. */
export class Witness {
  readonly #clock: Clock;
  /** When each series of each appliance was last answered whole and with 200. */
  readonly #answered = new Map<string, number>();
  readonly #joined = new Map<string, number>();
  /** When the portal was asked within the last day; those before `#first` are older. */
  #asked: number[] = [];
  #troubles: (Trouble & { readonly endsAt: number })[] = [];
  #longestInterval: { readonly at: number; readonly ms: number }[] = [];
  requests = 0;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** A request ended; with a status when its answer arrived whole. */
  answered(_method: string, path: string, status: number | undefined): void {
    this.requests += 1;
    const now = this.#clock.monotonic();
    const [bare = ''] = path.split('?');
    if (bare.startsWith('/portal/')) this.#expectWithinLimits(now);
    const [, serial, series] = /\/telemetry\/appliances\/([^/]+)\/([^/]+)$/.exec(bare) ?? [];
    if (status === 200 && serial !== undefined) this.#answered.set(`${serial}/${series}`, now);
  }

  /** Something begins to be wrong. */
  trouble(trouble: Trouble & { readonly endsAt: number }): void {
    this.#troubles.push(trouble);
  }

  /** Throws when what is exposed breaks a promise. */
  expectPromises(scrape: Scrape, standIn: StandIn, staleAfter: number): void {
    const now = this.#clock.monotonic();
    const interval = this.#noteInterval(scrape, now);
    for (const { labels } of scrape.all('filer_appliance_series_timestamp_seconds')) {
      const at = this.#answered.get(`${labels.serial}/${labels.series}`) ?? Number.NEGATIVE_INFINITY;
      // A minute for the answer that was under way.
      if (now - at > staleAfter * interval + 60_000) {
        throw new Error(`${labels.series} of ${labels.serial} is exposed, and ${(now - at) / 1000} s old`);
      }
    }
    this.#troubles = this.#troubles.filter(({ endsAt, echoMs }) => now - endsAt - echoMs < 4 * interval);
    const { appliances } = standIn.fleet;
    for (const { serial } of appliances) {
      if (!this.#joined.has(serial)) this.#joined.set(serial, now);
      if (this.#isHealthy(serial, interval, now)) this.#expectFresh(serial, scrape, interval, now);
    }
    const there = new Set(appliances.map(({ serial }) => serial));
    for (const serial of this.#joined.keys()) if (!there.has(serial)) this.#joined.delete(serial);
  }

  /** Nothing has been wrong with it for two intervals, and it has been there for as long. */
  #isHealthy(serial: string, interval: number, now: number): boolean {
    const settled = 2 * interval + SETTLING_MS;
    // An appliance is known with the next inventory, and polled with that.
    if (now - (this.#joined.get(serial) ?? now) < settled + INTERVAL_MS) return false;
    return this.#troubles.every(({ touches, endsAt, echoMs }) => {
      const concerns = touches === 'portal' || (typeof touches === 'object' && touches.serial === serial);
      return !concerns || now - endsAt - echoMs > settled;
    });
  }

  #expectFresh(serial: string, scrape: Scrape, interval: number, now: number): void {
    if (scrape.value('filer_appliance_up', { serial }) !== 1)
      throw new Error(`${serial} is healthy and counts as down`);
    for (const series of SERIES) {
      const age = now - (this.#answered.get(`${serial}/${series}`) ?? Number.NEGATIVE_INFINITY);
      if (age > 2 * interval + SETTLING_MS)
        throw new Error(`${series} of ${serial}, healthy, was asked ${age / 1000} s ago`);
    }
  }

  /** The longest interval that the limits have allowed lately: what was learnt of a refusal is forgotten only slowly. */
  #noteInterval(scrape: Scrape, now: number): number {
    const seconds = scrape.value('filer_exporter_effective_interval_seconds', { api: 'portal' }) ?? 0;
    this.#longestInterval.push({ at: now, ms: Math.max(INTERVAL_MS, seconds * 1000) });
    const longest = Math.max(...this.#longestInterval.map(({ ms }) => ms));
    this.#longestInterval = this.#longestInterval.filter(({ at }) => now - at < 4 * longest);
    return longest;
  }

  #expectWithinLimits(now: number): void {
    this.#asked.push(now);
    const inWindow = (ms: number) => {
      let count = 0;
      for (let at = this.#asked.length - 1; at >= 0 && now - (this.#asked[at] ?? 0) < ms; at -= 1) count += 1;
      return count;
    };
    if (inWindow(TOLD.windowMs) > TOLD.requests)
      throw new Error(`more than ${TOLD.requests} requests in ${TOLD.windowMs} ms`);
    if (this.#asked.length > TOLD.aDay) {
      this.#asked = this.#asked.filter((at) => now - at < DAY_MS);
      if (this.#asked.length > TOLD.aDay) throw new Error(`more than ${TOLD.aDay} requests in a day`);
    }
  }
}

/** Time-outs of thirty seconds, probes half a minute apart, and a turn in the queue, in milliseconds. */
const SETTLING_MS = 120_000;
