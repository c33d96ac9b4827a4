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

/** No promise of an interval lasts longer, in milliseconds. */
const PROMISES_KEPT_MS = 14_400_000;

/** Within so long of any moment there was a look, in milliseconds: only half of all looks are at the interval. */
const LOOKED_MS = 6 * INTERVAL_MS;

/** So many of the intervals that applied when it was answered a value is exposed at least. */
const LEAST_SHOWN = 2;

/** Whatever limits make of other intervals, the list of appliances is asked for so often, in milliseconds. */
const LIST_MS = INTERVAL_MS + SETTLING_MS;

const LICENCE = '/portal/account/license';

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
  /** Since when every series is rejected with 403, and when the licence was last read. */
  #rejectedSince: number | undefined;
  #licenceAt = Number.NEGATIVE_INFINITY;
  /** When the list of appliances was last asked for. */
  #listAt = Number.NEGATIVE_INFINITY;
  /** The series exposed at the last look; and when each was last withdrawn with reason: rejected, or its appliance not listed. */
  #shown: ReadonlySet<string> = new Set();
  readonly #withdrawn = new Map<string, number>();
  #restartedAt = Number.NEGATIVE_INFINITY;
  /** The interval told at each look, the newest last. */
  #intervals: { readonly at: number; readonly ms: number }[] = [];
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

  /** The exporter was started again. */
  restarted(now: number): void {
    this.#restartedAt = now;
  }

  /** An answer arrived whole; of those with 200 only the good ones count. */
  answered(path: string, { status, body }: WholeAnswer, now: number): void {
    if (status === 429) this.#refusedAt = now;
    const isSeries = path.startsWith('/portal/telemetry/appliances/');
    if (isSeries && status >= 400 && status < 429) this.#withdrawn.set(path, now);
    if (path === '/portal/serials') {
      this.#listAt = now;
      const text = body.toString('utf8');
      for (const serial of this.#joined.keys()) if (!text.includes(serial)) this.#withdrawn.set(serial, now);
    }
    if (isSeries && status === 403) this.#rejectedSince ??= now;
    if (isSeries && status === 200) this.#rejectedSince = undefined;
    if (status !== 200) return;
    if (path === LICENCE) this.#licenceAt = now;
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
    const intervalMs = this.#expectInterval(scrape, now);
    const limitMs = STALE_AFTER * intervalMs + SURPLUS_MS;
    this.#expectUpIsUp(scrape, intervalMs, now);
    this.#expectNoneLeft(scrape, now);
    for (const { labels, value } of scrape.all('filer_appliance_series_timestamp_seconds')) {
      const age = this.#times.get(`${labels.serial}/${labels.series}`)?.age(value, now) ?? Number.POSITIVE_INFINITY;
      if (age > Math.max(limitMs, this.#promisedMs(now - age).most * STALE_AFTER + SURPLUS_MS))
        throw new Error(`${labels.series} of ${labels.serial} is exposed, and ${age / 1000} s old`);
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
    this.#expectDecidingRead(freshMs, now);
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

  /** What counts as up has answered while its values were fresh, and an appliance with records. */
  #expectUpIsUp(scrape: Scrape, intervalMs: number, now: number): void {
    this.#intervals = [...this.#intervals.filter(({ at }) => now - at < PROMISES_KEPT_MS), { at: now, ms: intervalMs }];
    const limitMs = STALE_AFTER * Math.max(...this.#intervals.map(({ ms }) => ms)) + SURPLUS_MS;
    const isFresh = (answer: Answered | undefined) => answer !== undefined && now - answer.at <= limitMs;
    if (scrape.value('filer_api_up', { api: 'portal' }) === 1 && ![...this.#latest.values()].some(isFresh))
      throw new Error('the portal counts as up, and no series of it has answered');
    for (const { labels, value } of scrape.all('filer_appliance_up')) {
      const keys = Object.keys(GAUGES).map((series) => `${labels.serial}/${series}`);
      const answers = keys.map((key) => this.#latest.get(key));
      // The scrape that finds its last value stale still says that it is up.
      if (keys.some((key) => this.#shown.has(key))) continue;
      if (value === 1 && !answers.some((answer) => isFresh(answer) && answer?.newest !== undefined))
        throw new Error(`${labels.serial} counts as up, and has no records`);
    }
  }

  /** The intervals told around a moment; none when it is too long ago. */
  #promisedMs(moment: number): { readonly least: number; readonly most: number } {
    const near = this.#intervals.filter(({ at }) => Math.abs(at - moment) < LOOKED_MS).map(({ ms }) => ms);
    return near.length === 0 ? { least: 0, most: 0 } : { least: Math.min(...near), most: Math.max(...near) };
  }

  /** What was exposed stays for as long as was promised when it was answered, unless there is a reason. */
  #expectNoneLeft(scrape: Scrape, now: number): void {
    const shown = new Set(
      scrape.all('filer_appliance_series_timestamp_seconds').map(({ labels }) => `${labels.serial}/${labels.series}`),
    );
    for (const key of this.#shown) {
      const [serial = ''] = key.split('/');
      const latest = this.#latest.get(key);
      const reasons = [this.#withdrawn.get(`/portal/telemetry/appliances/${key}`), this.#withdrawn.get(serial)];
      const reasonAt = Math.max(this.#restartedAt, ...reasons.map((at) => at ?? Number.NEGATIVE_INFINITY));
      if (shown.has(key) || latest?.newest === undefined || latest.at <= reasonAt) continue;
      const age = now - latest.at;
      if (age < LEAST_SHOWN * this.#promisedMs(latest.at).least)
        throw new Error(`${key} is not exposed, and was answered ${age / 1000} s ago`);
    }
    this.#shown = shown;
  }

  /** The list of appliances keeps its interval; and when every series is rejected, the licence may explain it, and is read. */
  #expectDecidingRead(freshMs: number, now: number): void {
    const since = this.#rejectedSince;
    const concerns = (touches: Trouble['touches']) => touches === 'portal' || touches === 'account';
    if (!this.#troubles.isQuiet(concerns, freshMs, now)) return;
    const listMs = now - this.#listAt;
    if (listMs > LIST_MS) throw new Error(`the list of appliances was asked for ${listMs / 1000} s ago`);
    if (since === undefined || now - since < freshMs) return;
    if (this.#licenceAt < since)
      throw new Error(`every series is rejected for ${(now - since) / 1000} s, and the licence not read`);
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
