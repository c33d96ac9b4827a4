import type { StandIn } from '../../src/demo/stand-in.ts';
import type { Scrape } from '../support/scrape.ts';
import { dataAnswer } from './answers.ts';
import { Moments } from './moments.ts';
import { INTERVAL_MS, SETTLING_MS, STALE_AFTER, SURPLUS_MS } from './told.ts';
import type { Troubles } from './troubles.ts';

const LIMIT_MS = STALE_AFTER * INTERVAL_MS + SURPLUS_MS;
const CHECK_INS = ['filer_last_checkin_timestamp_seconds', 'filer_volume_last_checkin_timestamp_seconds'];
const FRESH_MS = 2 * INTERVAL_MS + SETTLING_MS;

/** One who is named no more goes with the first answer after the limit, and that comes within one and a half intervals. */
const GONE_MS = LIMIT_MS + 1.5 * INTERVAL_MS + SETTLING_MS;

/** Knows what `GET /data` answered when, and holds what is exposed of it against that. */
export class DataWitness {
  readonly #troubles: Troubles;
  /** Of each good answer, when it was asked as the service says. */
  readonly #asked = new Moments();
  readonly #named = new Moments();
  readonly #joined = new Map<string, number>();
  #answeredAt = Number.NEGATIVE_INFINITY;
  #looks = 0;
  /** The latest time that the service has told, in Unix seconds. */
  #latest = Number.NEGATIVE_INFINITY;

  constructor(troubles: Troubles) {
    this.#troubles = troubles;
  }

  /** How often it was healthy and had to be fresh. */
  get looks(): number {
    return this.#looks;
  }

  /** An answer arrived whole with 200; it counts only when it is one. */
  answered(body: unknown, now: number): void {
    const answer = dataAnswer(body);
    if (answer === undefined) return;
    this.#answeredAt = now;
    this.#asked.tell(answer.requestedAt, now);
    this.#latest = Math.max(this.#latest, answer.requestedAt);
    for (const guid of answer.filers) this.#named.tell(guid, now);
  }

  /** The exporter was started again with its state, which by the wall clock is so much younger than it is. */
  restarted(youngerByMs: number): void {
    this.#asked.rejuvenate(youngerByMs);
    this.#named.rejuvenate(youngerByMs);
  }

  /** Throws when what is exposed breaks a promise. */
  expectPromises(scrape: Scrape, standIn: StandIn, now: number): void {
    const told = scrape.value('filer_gfa_request_timestamp_seconds');
    const age = told === undefined ? undefined : this.#asked.age(told, now);
    if (age !== undefined && age > LIMIT_MS) throw new Error(`/data is exposed, and ${age / 1000} s old`);
    for (const { labels, value } of CHECK_INS.flatMap((name) => scrape.all(name))) {
      if (value > this.#latest)
        throw new Error(`filer ${labels.filer_guid} checks in ${value - this.#latest} s from now`);
    }
    const serials = standIn.fleet.appliances.map(({ serial }) => serial);
    for (const serial of serials) if (!this.#joined.has(serial)) this.#joined.set(serial, now);
    for (const serial of this.#joined.keys()) if (!serials.includes(serial)) this.#joined.delete(serial);
    if (!this.#troubles.isQuiet((touches) => touches === 'gfa', FRESH_MS, now)) return;
    this.#looks += 1;
    this.#expectFresh(scrape, age, now);
    for (const serial of serials) {
      if (now - (this.#joined.get(serial) ?? now) > FRESH_MS) expectFiler(scrape, serial);
    }
    for (const { guid } of standIn.fleet.volumes) {
      if (scrape.all('filer_volume_info', { volume_guid: guid }).length !== 1)
        throw new Error(`/data is healthy, and its volume ${guid} is not exposed`);
    }
    for (const { labels } of CHECK_INS.flatMap((name) => scrape.all(name))) {
      const unnamedMs = this.#named.age(labels.filer_guid ?? '', now);
      if (unnamedMs > GONE_MS)
        throw new Error(`the state of filer ${labels.filer_guid} is exposed, and ${unnamedMs / 1000} s old`);
    }
  }

  #expectFresh(scrape: Scrape, age: number | undefined, now: number): void {
    const askedMs = now - this.#answeredAt;
    if (askedMs > FRESH_MS) throw new Error(`/data, healthy, was asked ${askedMs / 1000} s ago`);
    if (scrape.value('filer_api_up', { api: 'gfa' }) !== 1) throw new Error('/data is healthy and counts as down');
    if (age === undefined) throw new Error('/data is healthy, and nothing of it is exposed');
    if (age > FRESH_MS) throw new Error(`/data is healthy, and what is exposed of it ${age / 1000} s old`);
  }
}

function expectFiler(scrape: Scrape, serial: string): void {
  if (scrape.value('filer_last_checkin_timestamp_seconds', { filer_guid: serial }) === undefined)
    throw new Error(`/data is healthy, and its filer ${serial} is not exposed`);
}
