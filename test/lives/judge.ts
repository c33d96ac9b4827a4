import { expect } from 'vitest';
import type { StandIn } from '../../src/demo/stand-in.ts';
import type { Clock } from '../../src/runtime/clock.ts';
import type { ParsedSample } from '../support/exposition-parser.ts';
import type { WholeAnswer } from '../support/memory-dispatcher.ts';
import type { LogLine } from '../support/program.ts';
import type { Scrape } from '../support/scrape.ts';
import { Counts } from './counts.ts';
import { Deliveries } from './deliveries.ts';
import { API_UP, APPLIANCE_UP, EFFECTIVE_INTERVAL, SERIES_TIME } from './names.ts';
import type { Sent } from './sent.ts';
import { DATA, INVENTORY, type Scope, seriesPlace, Troubles } from './troubles.ts';

/** What the exporter of a life was told, in milliseconds. */
export interface Told {
  readonly series: readonly string[];
  readonly intervalMs: number;
  readonly discoveryMs: number;
  readonly dataMs: number;
  readonly portal: boolean;
  readonly gfa: boolean;
}

/** A value may be shown for so many intervals. */
const STALE_AFTER = 3;

/** By so much limits may be tighter for a while than the interval says that they make. */
const TIGHTER = 1.25;

/** What a look and a poll under way take, in milliseconds. */
const SURPLUS_MS = 90_000;

/** Lines that a start and a stop take, and those that one act of the story may take with one appliance, beside those of each. */
const LINES = { life: 20, act: 8, appliance: 3 } as const;

const HOUR_MS = 3_600_000;

/** Requests of an hour beside those of health: one in ten tried again, and some at once after long health. */
const TRIED_AGAIN = { share: 0.15, atOnce: 30 } as const;

/** Requests of an hour that are about the account, tokens among them, beside the lists of the inventory. */
const ACCOUNT_AN_HOUR = 90;

/**
 * What holds in every life, whatever its story: what is shown as fresh is fresh, what is healthy is asked and shown, nothing
 * flaps, no counter falls or jumps, trouble costs no more requests than health, and the log tells a story and not each poll.
 * It knows the truth from what the services said.
 */
export class Judge {
  readonly #clock: Clock;
  readonly #services: StandIn;
  readonly #sent: Sent;
  readonly #told: Told;
  readonly #deliveries: Deliveries;
  readonly #counts = new Counts();
  readonly #troubles = new Troubles();
  /** Of each `up`, its value and how often it changed. */
  readonly #ups = new Map<string, { value: number; changes: number }>();
  readonly #joined = new Map<string, number>();
  readonly #broken = new Set<string>();
  #starts: number[] = [];
  #longestMs: number;
  #mostAppliances = 0;
  /** Counters of appliances, filers or volumes that the story lets go. */
  forgives: (labels: Readonly<Record<string, string>>) => boolean = () => false;
  /** Promises that this story is not about: the beginning of a complaint. */
  readonly excused: string[] = [];

  constructor(clock: Clock, services: StandIn, sent: Sent, told: Told) {
    this.#clock = clock;
    this.#services = services;
    this.#sent = sent;
    this.#told = told;
    this.#longestMs = told.intervalMs;
    this.#deliveries = new Deliveries(clock);
  }

  /** Something is wrong until what it returns is called, and may be felt for `echoMs` more. */
  troubled(scope: Scope, echoMs: number): () => void {
    const ended = this.#troubles.begin(scope, echoMs);
    return () => ended(this.#clock.monotonic());
  }

  /** An exporter starts; `isKept`: with what the one before it had counted. */
  started(isKept: boolean): void {
    this.#starts.push(this.#clock.monotonic());
    this.troubled({}, 0)();
    this.#counts.restarted(isKept);
    this.#deliveries.restarted(isKept);
  }

  answered(path: string, answer: WholeAnswer): void {
    if (answer.status === 200) this.#deliveries.take(path, answer.body);
  }

  looked(scrape: Scrape): void {
    const now = this.#clock.monotonic();
    const seconds = scrape.value(EFFECTIVE_INTERVAL, { api: 'portal' }) ?? 0;
    // A limit that was lifted makes no value older than what was promised for it.
    this.#longestMs = Math.max(this.#longestMs, seconds * 1000);
    this.#expectFresh(scrape, now);
    this.#expectOneTruth(scrape);
    this.#expectHealthyAsked(scrape, now);
    this.#expectNoMoreRequests(now);
    for (const broken of this.#counts.broken(scrape, this.forgives)) this.#break(broken);
    for (const name of [API_UP, APPLIANCE_UP]) for (const sample of scrape.all(name)) this.#watchUp(sample);
  }

  /** Throws when a promise was broken in this life. */
  expectPromises(log: readonly LogLine[], acts: number): void {
    for (const [up, { changes }] of this.#ups) {
      if (changes > acts + 1) this.#break(`flaps: ${up} changed ${changes} times for ${acts} acts of the story`);
    }
    const most = LINES.life + acts * (LINES.act + LINES.appliance * this.#mostAppliances);
    if (log.length > most) this.#break(`talks: ${log.length} lines for ${acts} acts, ${most} at most`);
    if (log.some(({ stack, err }) => stack ?? (err as { stack?: string } | undefined)?.stack === 'defect'))
      this.#break('a defect in the log');
    const broken = [...this.#broken].filter((one) => !this.excused.some((excused) => one.startsWith(excused)));
    expect(broken.slice(0, 10)).toEqual([]);
  }

  #expectFresh(scrape: Scrape, now: number): void {
    for (const { labels, value } of scrape.all(SERIES_TIME)) {
      const age = now - this.#deliveries.seriesTold(`${labels.serial}/${labels.series}`, value);
      if (age > STALE_AFTER * this.#longestMs + SURPLUS_MS)
        this.#break(`stale: ${labels.series} of ${labels.serial} is shown, ${age / 1000} s old`);
    }
    const requested = scrape.value('filer_gfa_request_timestamp_seconds');
    const age = requested === undefined ? 0 : now - this.#deliveries.dataTold(requested);
    if (age > STALE_AFTER * this.#told.dataMs + SURPLUS_MS) this.#break(`stale: /data is shown, ${age / 1000} s old`);
    for (const [name, most] of Object.entries(this.#deliveries.counts())) {
      const sum = scrape.sum(name);
      if (sum > most) this.#break(`jumps: ${name} is ${sum}, and ${most} were delivered`);
    }
  }

  /** What one scrape says is of one moment: up is only what something is shown of, and not while the portal is down. */
  #expectOneTruth(scrape: Scrape): void {
    const shown = new Set(scrape.all(SERIES_TIME).map(({ labels }) => labels.serial));
    const isDown = scrape.value(API_UP, { api: 'portal' }) === 0;
    for (const { labels, value } of scrape.all(APPLIANCE_UP)) {
      if (value === 0) continue;
      if (!shown.has(labels.serial)) this.#break(`contradicts: ${labels.serial} is up, without any series`);
      if (isDown) this.#break(`contradicts: ${labels.serial} is up, and the portal is down`);
    }
  }

  /** What nothing is wrong with is asked at its interval, and shown, whatever else is wrong. */
  #expectHealthyAsked(scrape: Scrape, now: number): void {
    const { series, discoveryMs, intervalMs, dataMs, portal, gfa } = this.#told;
    const isStretched = this.#longestMs > intervalMs;
    const effectiveMs = isStretched ? TIGHTER * this.#longestMs : intervalMs;
    if (portal && this.#troubles.isQuiet(INVENTORY, 2 * discoveryMs, now))
      this.#expectAsked(INVENTORY.path, 1.6 * discoveryMs);
    if (gfa && this.#troubles.isQuiet(DATA, 3 * dataMs, now)) {
      this.#expectAsked(DATA.path, 1.6 * dataMs);
      if (scrape.value(API_UP, { api: 'gfa' }) !== 1) this.#break('unwell: gfa is down, and nothing is wrong');
    }
    if (!portal) return;
    const there = this.#services.fleet.appliances.map(({ serial }) => serial);
    this.#mostAppliances = Math.max(this.#mostAppliances, there.length);
    for (const serial of this.#joined.keys()) if (!there.includes(serial)) this.#joined.delete(serial);
    for (const serial of there) {
      const joined = this.#joined.get(serial) ?? now;
      this.#joined.set(serial, joined);
      // It is known with the next list.
      const isNew = now - joined <= 1.5 * discoveryMs + 2 * effectiveMs && joined > 0;
      if (isNew || this.forgives({ serial })) continue;
      for (const one of series) this.#expectSeries(serial, one, effectiveMs, scrape, now);
    }
  }

  #expectSeries(serial: string, series: string, effectiveMs: number, scrape: Scrape, now: number): void {
    // What the appliance does not have rests.
    if (!this.#deliveries.hasTold(`${serial}/${series}`)) return;
    const place = seriesPlace(serial, series);
    if (!this.#troubles.isQuiet(place, 2.5 * effectiveMs + SURPLUS_MS, now)) return;
    this.#expectAsked(place.path, effectiveMs + 0.5 * this.#told.intervalMs);
    const minute = Math.round(now / 60_000);
    const [shown] = scrape.all(SERIES_TIME, { serial, series });
    if (shown === undefined)
      this.#break(`unwell: ${series} of ${serial} is not shown at minute ${minute}, and nothing is wrong`);
    if (scrape.value(APPLIANCE_UP, { serial }) !== 1)
      this.#break(`unwell: ${serial} is down at minute ${minute}, and nothing is wrong`);
    if (scrape.value(API_UP, { api: 'portal' }) !== 1)
      this.#break(`unwell: the portal is down at minute ${minute}, and nothing is wrong with ${place.path}`);
  }

  #expectAsked(path: string, withinMs: number): void {
    const age = this.#sent.lastLeft(path);
    if (age > withinMs + SURPLUS_MS) {
      const minute = Math.round(this.#clock.monotonic() / 60_000);
      this.#break(`unasked: ${path} at minute ${minute}, ${age / 1000} s after it was, ${withinMs / 1000} s promised`);
    }
  }

  /** In no hour are there more requests than in health. */
  #expectNoMoreRequests(now: number): void {
    const { series, intervalMs, discoveryMs, dataMs, portal, gfa } = this.#told;
    const starts = this.#starts.filter((at) => now - at < HOUR_MS).length;
    const expect = (what: string, path: RegExp, health: number) => {
      const most = (1 + TRIED_AGAIN.share) * health + TRIED_AGAIN.atOnce;
      const sent = this.#sent.count(path, HOUR_MS);
      if (sent > most) this.#break(`costs: ${sent} requests of ${what} in an hour, ${most} at most`);
    };
    const round = this.#mostAppliances * series.length;
    if (portal) {
      expect('telemetry', /^\/portal\/telemetry\/appliances/, round * (HOUR_MS / intervalMs + starts));
      expect('the account', /^\/portal\/(?!telemetry)/, ACCOUNT_AN_HOUR + 3 * (HOUR_MS / discoveryMs + starts));
    }
    if (gfa) expect('/data', /^\/gfa/, HOUR_MS / dataMs + starts);
  }

  #watchUp({ name, labels, value }: ParsedSample): void {
    const key = `${name} ${labels.api ?? labels.serial}`;
    const known = this.#ups.get(key);
    if (known === undefined) this.#ups.set(key, { value, changes: 0 });
    else if (known.value !== value) this.#ups.set(key, { value, changes: known.changes + 1 });
  }

  #break(promise: string): void {
    if (this.#broken.size < 100) this.#broken.add(promise);
  }
}
