import type { MockServices } from '../../src/demo/mock-services.ts';
import type { Clock } from '../../src/runtime/clock.ts';
import type { Scrape } from '../support/scrape.ts';
import { Deliveries } from './deliveries.ts';
import { EFFECTIVE_INTERVAL } from './names.ts';
import { type Ceilings, RequestCount } from './request-count.ts';
import type { Sent } from './sent.ts';
import { Troubles } from './troubles.ts';

/** What the exporter was told, in milliseconds. */
export interface Told {
  readonly series: readonly string[];
  readonly intervalMs: number;
  readonly discoveryMs: number;
  readonly dataMs: number;
  readonly portal: boolean;
  readonly gfa: boolean;
  /** Whether it reads the licence. */
  readonly licence: boolean;
  /** What it may send to the portal. */
  readonly ceilings: Ceilings;
}

/** A value may be shown for so many intervals. */
export const STALE_AFTER = 3;

/** What a look and a poll under way take, in milliseconds. */
export const SURPLUS_MS = 90_000;

/** All that a judge goes by: what was told, asked, answered and wrong, and when; monotonic milliseconds. */
export class Evidence {
  readonly clock: Clock;
  readonly services: MockServices;
  readonly sent: Sent;
  readonly told: Told;
  readonly deliveries: Deliveries;
  readonly troubles = new Troubles();
  readonly requests: RequestCount;
  /** When each exporter started. */
  readonly starts: number[] = [];
  /** Since when there is each appliance. */
  readonly joined = new Map<string, number>();
  /** The most appliances that there were at once. */
  maxAppliances = 0;
  /** When the machine last woke: of the time before, in which nothing could be asked, nothing is said. */
  wokeAt: () => number = () => Number.NEGATIVE_INFINITY;
  #intervals: { readonly at: number; readonly ms: number }[] = [];

  constructor(clock: Clock, services: MockServices, sent: Sent, told: Told) {
    this.clock = clock;
    this.services = services;
    this.sent = sent;
    this.told = told;
    this.deliveries = new Deliveries(clock);
    this.requests = new RequestCount(told.ceilings);
    sent.sends = (path) => {
      if (path.startsWith('/portal/')) this.requests.leaves(this.now);
    };
    for (const { serial } of services.fleet.appliances) this.joined.set(serial, 0);
  }

  get now(): number {
    return this.clock.monotonic();
  }

  get startedAt(): number {
    return this.starts.at(-1) ?? 0;
  }

  /** The longest interval of which a promise can still hold: a limit that was lifted makes no value older. */
  get longestMs(): number {
    return Math.max(this.told.intervalMs, ...this.#intervals.map(({ ms }) => ms));
  }

  /** Takes down what a look shows: the interval that limits allow now, and which appliances there are. */
  looked(scrape: Scrape): void {
    const { now } = this;
    const seconds = scrape.value(EFFECTIVE_INTERVAL, { api: 'portal' });
    if (seconds !== undefined) this.#intervals.push({ at: now, ms: seconds * 1000 });
    this.#intervals = this.#intervals.filter(({ at, ms }) => now - at <= (STALE_AFTER + 1) * ms + SURPLUS_MS);
    const there = this.services.fleet.appliances.map(({ serial }) => serial);
    for (const serial of this.joined.keys()) if (!there.includes(serial)) this.joined.delete(serial);
    for (const serial of there) if (!this.joined.has(serial)) this.joined.set(serial, now);
    this.maxAppliances = Math.max(this.maxAppliances, there.length);
  }
}
