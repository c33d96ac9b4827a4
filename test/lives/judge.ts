import { expect } from 'vitest';
import type { StandIn } from '../../src/demo/stand-in.ts';
import type { Clock } from '../../src/runtime/clock.ts';
import type { ParsedSample } from '../support/exposition-parser.ts';
import type { WholeAnswer } from '../support/memory-dispatcher.ts';
import type { LogLine } from '../support/program.ts';
import type { Scrape } from '../support/scrape.ts';
import { Deliveries } from './deliveries.ts';
import { API_UP, APPLIANCE_UP } from './names.ts';

/** A value may be shown for so many intervals. */
const STALE_AFTER = 3;

/** What a look and a poll under way take, in milliseconds. */
const SURPLUS_MS = 90_000;

/** Lines that a start and a stop take, and those that one act of the story may take with one appliance, beside those of each. */
const LINES = { life: 20, act: 8, appliance: 3 } as const;

/** For so long after the last act and trouble, all is to be well: two intervals, and a round of the inventory. */
const SETTLED_MS = 2_000_000;

/**
 * What holds in every life, whatever its story: what is shown as fresh is fresh, what is healthy is shown, nothing flaps,
 * no counter falls or jumps, and the log tells a story and not each poll. It knows the truth from what the services said.
 */
export class Judge {
  readonly #clock: Clock;
  readonly #services: StandIn;
  readonly #deliveries = new Deliveries();
  /** Of each `up`, its value and how often it changed. */
  readonly #ups = new Map<string, { value: number; changes: number }>();
  readonly #counters = new Map<string, number>();
  readonly #times = new Map<string, Map<number, number>>();
  readonly #broken = new Set<string>();
  #troubles = 0;
  #actedAt = 0;
  #longestMs = 0;
  /** Counters of appliances, filers or volumes that the story lets go. */
  forgives: (labels: Readonly<Record<string, string>>) => boolean = () => false;
  /** Promises that this story is not about: the beginning of a complaint. */
  readonly excused: string[] = [];

  constructor(clock: Clock, services: StandIn) {
    this.#clock = clock;
    this.#services = services;
  }

  /** The story did something. */
  acted(): void {
    this.#actedAt = this.#clock.monotonic();
  }

  /** Something is wrong until what it returns is called. */
  troubled(): () => void {
    this.#troubles += 1;
    let isOver = false;
    return () => {
      if (!isOver) this.#troubles -= 1;
      isOver = true;
    };
  }

  restarted(isKept: boolean): void {
    for (const key of this.#counters.keys()) if (!isKept || !KEPT.test(key)) this.#counters.delete(key);
    this.#deliveries.restarted(isKept);
  }

  answered(path: string, answer: WholeAnswer): void {
    if (answer.status !== 200) return;
    const body = jsonOf(answer.body);
    if (body === undefined) return;
    this.#deliveries.take(path, body);
    const [, serial, series] = /\/telemetry\/appliances\/([^/]+)\/([^/?]+)$/.exec(path) ?? [];
    if (series === undefined) return;
    const newest = newestTime(body);
    if (newest === undefined) return;
    const key = `${serial}/${series}`;
    const times = this.#times.get(key) ?? new Map<number, number>();
    this.#times.set(key, times.set(newest, this.#clock.monotonic()));
  }

  looked(scrape: Scrape): void {
    const now = this.#clock.monotonic();
    this.#expectFresh(scrape, now);
    this.#expectCountersGoOn(scrape);
    for (const name of [API_UP, APPLIANCE_UP]) for (const sample of scrape.all(name)) this.#watchUp(sample);
    if (this.#troubles === 0 && now - this.#actedAt > SETTLED_MS) this.#expectWell(scrape, now);
  }

  /** Throws when a promise was broken in this life. */
  expectPromises(log: readonly LogLine[], acts: number): void {
    for (const [up, { changes }] of this.#ups) {
      if (changes > acts + 1) this.#break(`flaps: ${up} changed ${changes} times for ${acts} acts of the story`);
    }
    const most = LINES.life + acts * (LINES.act + LINES.appliance * this.#services.fleet.appliances.length);
    if (log.length > most) this.#break(`talks: ${log.length} lines for ${acts} acts, ${most} at most`);
    if (log.some(({ stack, err }) => stack ?? (err as { stack?: string } | undefined)?.stack === 'defect'))
      this.#break('a defect in the log');
    const broken = [...this.#broken].filter((one) => !this.excused.some((excused) => one.startsWith(excused)));
    expect(broken.slice(0, 10)).toEqual([]);
  }

  #expectFresh(scrape: Scrape, now: number): void {
    const seconds = scrape.value('filer_exporter_effective_interval_seconds', { api: 'portal' }) ?? 0;
    // A limit that was lifted makes no value older than what was promised for it.
    this.#longestMs = Math.max(this.#longestMs, seconds * 1000);
    for (const { labels, value } of scrape.all('filer_appliance_series_timestamp_seconds')) {
      const at = this.#times.get(`${labels.serial}/${labels.series}`)?.get(value);
      const age = at === undefined ? Number.POSITIVE_INFINITY : now - at;
      if (age > STALE_AFTER * this.#longestMs + SURPLUS_MS)
        this.#break(`stale: ${labels.series} of ${labels.serial} is shown, ${age / 1000} s old`);
    }
    const counted = this.#deliveries.counts();
    for (const [name, most] of Object.entries(counted)) {
      const sum = scrape.sum(name);
      if (sum > most) this.#break(`jumps: ${name} is ${sum}, and ${most} were delivered`);
    }
  }

  #expectCountersGoOn(scrape: Scrape): void {
    const there = new Map<string, number>();
    for (const sample of scrape.samples) {
      if (isCount(sample, scrape.types) && !sample.name.startsWith('nodejs_')) there.set(keyOf(sample), sample.value);
    }
    for (const [key, before] of this.#counters) {
      const value = there.get(key);
      const labels = JSON.parse(key.slice(key.indexOf(' ') + 1)) as Readonly<Record<string, string>>;
      if (this.forgives(labels)) this.#counters.delete(key);
      else if (value === undefined) this.#break(`falls: ${key} left`);
      else if (value < before) this.#break(`falls: ${key} from ${before} to ${value}`);
    }
    for (const [key, value] of there) this.#counters.set(key, value);
  }

  #watchUp({ name, labels, value }: ParsedSample): void {
    const key = `${name} ${labels.api ?? labels.serial}`;
    const known = this.#ups.get(key);
    if (known === undefined) this.#ups.set(key, { value, changes: 0 });
    else if (known.value !== value) this.#ups.set(key, { value, changes: known.changes + 1 });
  }

  #expectWell(scrape: Scrape, now: number): void {
    const minutes = Math.round(now / 60_000);
    for (const { labels, value } of scrape.all(API_UP))
      if (value !== 1) this.#break(`unwell: ${labels.api} is down at minute ${minutes}, and nothing is wrong`);
    for (const { serial } of this.#services.fleet.appliances) {
      if (this.forgives({ serial })) continue;
      if (scrape.types.has(APPLIANCE_UP) && scrape.value(APPLIANCE_UP, { serial }) !== 1)
        this.#break(`unwell: ${serial} is down at minute ${minutes}, and nothing is wrong`);
    }
  }

  #break(promise: string): void {
    if (this.#broken.size < 100) this.#broken.add(promise);
  }
}

/** What is counted of upstream events, and kept over restarts. */
const KEPT = /^filer_(?:lock|propagation|data_protected)_/;

/** What a filer or a volume is called may change while what is counted of it goes on. */
const NAMES: ReadonlySet<string> = new Set(['filer', 'volume']);

function isCount({ name }: ParsedSample, types: ReadonlyMap<string, string>): boolean {
  if (types.get(name) === 'counter') return true;
  const [, family = ''] = /^(.*)_(?:bucket|sum|count)$/.exec(name) ?? [];
  return types.get(family) === 'histogram';
}

function keyOf({ name, labels }: ParsedSample): string {
  const told = Object.entries(labels).filter(([label]) => !NAMES.has(label));
  return `${name} ${JSON.stringify(Object.fromEntries(told.sort()))}`;
}

function jsonOf(body: Buffer): unknown {
  try {
    return JSON.parse(body.toString('utf8'));
  } catch {
    return undefined;
  }
}

/** The time of the newest record that holds a value, in Unix seconds. */
function newestTime(body: unknown): number | undefined {
  const { items } = body as { items?: readonly Readonly<Record<string, unknown>>[] };
  const times = (items ?? [])
    .filter((item) => Object.entries(item).some(([field, value]) => field !== 'time' && value !== null))
    .map(({ time }) => Number(time) / 1000);
  return times.length === 0 ? undefined : Math.max(...times);
}
