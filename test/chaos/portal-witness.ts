import type { StandIn } from '../../src/demo/stand-in.ts';
import type { WholeAnswer } from '../support/memory-dispatcher.ts';
import type { Scrape } from '../support/scrape.ts';
import { isList, jsonOf, type SeriesAnswer, seriesAnswer } from './answers.ts';
import { Moments } from './moments.ts';
import {
  allowedIntervalMs,
  FLEET,
  GAUGES,
  INTERVAL_MS,
  SETTLING_MS,
  STALE_AFTER,
  SURPLUS_MS,
  type Told,
} from './told.ts';
import type { Trouble } from './trouble.ts';
import type { Troubles } from './troubles.ts';

/** So long after a refusal its law may still ask more slowly than was told: the longest hold, and to look for the limit again. */
const REFUSAL_ECHO_MS = 1_500_000;

/** How many times the interval that was told a refusal may make of it. */
const REFUSED_STRETCH = 4;

/** Lists that are asked for as a whole, each with a gauge that it yields. */
const LISTS = {
  '/portal/serials': 'filer_appliance_info',
  '/portal/edges': 'filer_appliance_reachable',
  '/portal/volume_connections': 'filer_volume_connection_info',
};

interface Answered extends SeriesAnswer {
  readonly at: number;
}

/** Knows what the portal answered when, and holds what is exposed of it against that. */
export class PortalWitness {
  readonly #told: Told;
  readonly #troubles: Troubles;
  /** The latest good answer of each series of each appliance. */
  readonly #latest = new Map<string, Answered>();
  /** When each of them last told which newest time. */
  readonly #times = new Map<string, Moments>();
  readonly #lists = new Moments();
  readonly #joined = new Map<string, number>();
  #refusedAt = Number.NEGATIVE_INFINITY;
  #tokenMs: number;
  #looks = 0;
  #longestMs = 0;

  /** `tokenMs`: how long tokens live at first. */
  constructor(told: Told, troubles: Troubles, tokenMs: number) {
    this.#told = told;
    this.#troubles = troubles;
    this.#tokenMs = tokenMs;
  }

  /** How often an appliance was healthy and had to be fresh. */
  get looks(): number {
    return this.#looks;
  }

  /** The longest interval that the exporter has told. */
  get longestMs(): number {
    return this.#longestMs;
  }

  /** Tokens live so long from now on. */
  tokensLive(ms: number): void {
    this.#tokenMs = ms;
  }

  /** An answer arrived whole; of those with 200 only the good ones count. */
  answered(path: string, { status, body }: WholeAnswer, now: number): void {
    if (status === 429) this.#refusedAt = now;
    if (status !== 200) return;
    if (path in LISTS && isList(jsonOf(body))) this.#lists.tell(path, now);
    const [, serial, series] = /\/telemetry\/appliances\/([^/]+)\/([^/]+)$/.exec(path) ?? [];
    const answer = series === undefined ? undefined : seriesAnswer(jsonOf(body));
    if (answer === undefined) return;
    const key = `${serial}/${series}`;
    this.#latest.set(key, { ...answer, at: now });
    const times = this.#times.get(key) ?? new Moments();
    this.#times.set(key, times);
    if (answer.newest !== undefined) times.tell(answer.newest, now);
  }

  /** Throws when what is exposed breaks a promise. */
  expectPromises(scrape: Scrape, standIn: StandIn, now: number): void {
    const limitMs = STALE_AFTER * this.#expectInterval(scrape, now) + SURPLUS_MS;
    for (const { labels, value } of scrape.all('filer_appliance_series_timestamp_seconds')) {
      const age = this.#times.get(`${labels.serial}/${labels.series}`)?.age(value, now) ?? Number.POSITIVE_INFINITY;
      if (age > limitMs) throw new Error(`${labels.series} of ${labels.serial} is exposed, and ${age / 1000} s old`);
    }
    for (const [path, gauge] of Object.entries(LISTS)) {
      const age = this.#lists.age(path, now);
      if (age > limitMs && scrape.all(gauge).length > 0)
        throw new Error(`${gauge} is exposed, and ${age / 1000} s old`);
    }
    const { appliances } = standIn.fleet;
    const demand = { appliances: appliances.length, troubled: this.#troubles.troubled, tokenMs: this.#tokenMs };
    const freshMs = 2 * allowedIntervalMs(this.#told, demand) + SETTLING_MS;
    for (const { serial } of appliances) {
      if (!this.#joined.has(serial)) this.#joined.set(serial, now);
      if (this.#isHealthy(serial, freshMs, now)) this.#expectFresh(serial, scrape, freshMs, now);
    }
    this.#forgetOthers(new Set(appliances.map(({ serial }) => serial)), scrape);
  }

  /** The interval that the exporter says, which may be no longer than what it was told allows. */
  #expectInterval(scrape: Scrape, now: number): number {
    const seconds = scrape.value('filer_exporter_effective_interval_seconds', { api: 'portal' });
    if (seconds === undefined) throw new Error('nothing says how often the portal is asked');
    this.#longestMs = Math.max(this.#longestMs, seconds * 1000);
    const demand = { appliances: FLEET.most, troubled: 0, tokenMs: this.#told.tokenMs };
    const allowed = allowedIntervalMs(this.#told, demand) / 1000;
    const most = now - this.#refusedAt > REFUSAL_ECHO_MS ? allowed : REFUSED_STRETCH * allowed;
    if (seconds > most) throw new Error(`the portal is asked every ${seconds} s, and every ${most} s was allowed`);
    return seconds * 1000;
  }

  /** Nothing has been wrong with it for two intervals, and it has been there for as long. */
  #isHealthy(serial: string, freshMs: number, now: number): boolean {
    // An appliance is known with the next inventory, and polled with that.
    if (now - (this.#joined.get(serial) ?? now) < freshMs + INTERVAL_MS) return false;
    const concerns = (touches: Trouble['touches']) =>
      touches === 'portal' || (typeof touches === 'object' && touches.serials.includes(serial));
    return this.#troubles.isQuiet(concerns, freshMs, now);
  }

  #expectFresh(serial: string, scrape: Scrape, freshMs: number, now: number): void {
    this.#looks += 1;
    if (scrape.value('filer_appliance_up', { serial }) !== 1)
      throw new Error(`${serial} is healthy and counts as down`);
    for (const [series, gauge] of Object.entries(GAUGES)) {
      const latest = this.#latest.get(`${serial}/${series}`);
      const askedMs = now - (latest?.at ?? Number.NEGATIVE_INFINITY);
      if (askedMs > freshMs) throw new Error(`${series} of ${serial}, healthy, was asked ${askedMs / 1000} s ago`);
      // An appliance that has just joined has not reported anything yet.
      if (latest?.newest === undefined) continue;
      if (scrape.all(gauge, { serial }).length === 0)
        throw new Error(`${serial} is healthy, and its ${gauge} is not exposed`);
      const told = scrape.value('filer_appliance_series_timestamp_seconds', { serial, series });
      if (told !== latest.newest)
        throw new Error(`${series} of ${serial}, healthy, is of ${told}, and ${latest.newest} was answered`);
    }
  }

  /** Of what is neither there nor exposed any more nothing is remembered. */
  #forgetOthers(there: ReadonlySet<string>, scrape: Scrape): void {
    for (const serial of this.#joined.keys()) if (!there.has(serial)) this.#joined.delete(serial);
    for (const key of this.#times.keys()) {
      const [serial = ''] = key.split('/');
      if (there.has(serial) || scrape.mentions(serial)) continue;
      this.#times.delete(key);
      this.#latest.delete(key);
    }
  }
}
