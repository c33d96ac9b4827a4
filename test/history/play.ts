import type { RequestListener } from 'node:http';
import pLimit from 'p-limit';
import type { Dispatcher } from 'undici';
import type { PollResult } from '../../src/contract/poll-result.ts';
import { type MockServices, startMockServices, type Variations } from '../../src/demo/mock-services.ts';
import { parsePeriod } from '../../src/demo/portal/period.ts';
import { newPoints } from '../../src/history/new-points.ts';
import type { Send } from '../../src/history/receiver.ts';
import { RemoteWrite } from '../../src/history/remote-write.ts';
import type { Labels } from '../../src/metrics/family.ts';
import type { Sample } from '../../src/metrics/samples.ts';
import type { Clock } from '../../src/runtime/clock.ts';
import { increment } from '../../src/runtime/maps.ts';
import { Secret } from '../../src/runtime/secret.ts';
import { runToEnd } from '../../src/runtime/slices.ts';
import { portalRequests } from '../../src/services/portal/allowed-requests.ts';
import { STANDARD_SERIES } from '../../src/services/portal/appliances/series-operations.ts';
import { PortalClient } from '../../src/services/portal/client.ts';
import { PortalCollector } from '../../src/services/portal/collector.ts';
import { TokenSource } from '../../src/services/portal/token.ts';
import { JsonClient } from '../../src/transport/json-client.ts';
import { AdaptiveRate } from '../../src/transport/rate/adaptive-rate.ts';
import { DailyQuota } from '../../src/transport/rate/daily-quota.ts';
import { RateLimiter } from '../../src/transport/rate/rate-limiter.ts';
import { RequestQueue } from '../../src/transport/rate/request-queue.ts';
import { ManualClock, settle } from '../support/manual-clock.ts';
import { MemoryDispatcher } from '../support/memory-dispatcher.ts';
import { noLog } from '../support/mock-api.ts';

/*
 * Hours of polling and sending on a manual clock: the program's own collector and remote write, between the stand-in and
 * a receiver. Only the receiver may be real.
 */

export const MINUTE_MS = 60_000;
const POLL_MS = 5 * MINUTE_MS;
const HOUR_MS = 60 * MINUTE_MS;

/** Labels that a scrape would put on the series. */
export const LABELS: Labels = { job: 'filer-exporter', instance: 'played:9989' };

export interface PlayOptions {
  readonly appliances: number;
  readonly series?: readonly string[];
  readonly catchUpMs?: number;
  readonly variations?: Partial<Variations>;
  readonly send: Send;
  /** Epoch milliseconds. */
  readonly start: number;
  readonly binSeconds?: number;
  /** How far the exporter's clock is ahead of the service's. */
  readonly aheadMs?: number;
  readonly lookbackMs?: number;
}

/** The status with which the portal answers a request for a period, instead of the records; undefined answers it. */
export type Refuse = (period: { readonly startMs: number; readonly endMs: number }) => number | undefined;

/** A stand-in, and an exporter's life after another that polls it and sends. */
export class Play {
  /** That of the services. */
  readonly clock: ManualClock;
  readonly standIn: MockServices;
  /** How far the exporter's clock is ahead of it. */
  aheadMs: number;
  readonly #own: Clock = {
    now: () => this.clock.now() + this.aheadMs,
    monotonic: () => this.clock.monotonic(),
    sleep: (ms, signal) => this.clock.sleep(ms, signal),
  };
  readonly #settings: PlayOptions;
  readonly #stop = new AbortController();
  #portal: PortalCollector | undefined;
  remote: RemoteWrite;
  refuse: Refuse | undefined;
  /** What all lives before this one have told. */
  readonly #told = { dropped: new Map<string, number>(), lost: new Map<string, number>() };
  /** What `/metrics` would show now: the newest value of each series. */
  readonly exposed = new Map<string, readonly Sample[]>();

  private constructor(settings: PlayOptions, clock: ManualClock, standIn: MockServices) {
    this.#settings = settings;
    this.clock = clock;
    this.standIn = standIn;
    this.aheadMs = settings.aheadMs ?? 0;
    this.remote = this.#newRemote();
  }

  static async begin(settings: PlayOptions): Promise<Play> {
    const clock = new ManualClock(settings.start);
    const { appliances, variations = {} } = settings;
    const standIn = await startMockServices({ clock, appliances, variations: { rateLimit: null, ...variations } });
    const play = new Play(settings, clock, standIn);
    await play.restart();
    return play;
  }

  /** A new life of the exporter, which knows what was saved last; by default all that has arrived. */
  async restart(saved: readonly unknown[] | undefined = this.remote.cursors.state()): Promise<void> {
    for (const kind of ['dropped', 'lost'] as const)
      for (const [reason, count] of this.remote.status()[kind]) increment(this.#told[kind], reason, count);
    this.remote = this.#newRemote();
    if (saved !== undefined) runToEnd(this.remote.cursors.restore(saved));
    this.#portal = await this.#collector((task, now) => this.remote.wantedSince(task, now));
  }

  async #collector(wantedSince: (task: string, now: number) => number | undefined): Promise<PortalCollector> {
    const { standIn } = this;
    const clock = this.#own;
    const now = clock.monotonic();
    const limit = { requests: 1_000_000, windowMs: 1_000 };
    const client = new JsonClient({
      secrets: () => [],
      baseUrl: standIn.portalUrl,
      userAgent: 'play',
      dispatcher: new PickyDispatcher(standIn.serve, (text) => this.#refusal(text)),
      clock,
      pacer: new RequestQueue(
        new RateLimiter(limit, new AdaptiveRate(1_000, now), now),
        new DailyQuota(undefined, now),
        clock,
      ),
      limit: pLimit(8),
      observer: { onStart: () => {}, onEnd: () => {}, onThrottle: () => {} },
      timeoutMs: 30_000,
      allowed: portalRequests,
      limitsOf: () => ({ bytes: 32_000_000, isByMemory: false, parsedBytes: Number.POSITIVE_INFINITY }),
    });
    const tokens = new TokenSource(client, { kind: 'user_key', key: Secret.of(standIn.credentials.userKey) }, clock);
    const series = (this.#settings.series ?? STANDARD_SERIES).map((name) => ({ name, intervalMs: POLL_MS }));
    const portal = new PortalCollector(
      new PortalClient(client, tokens, { clock, random: () => 0.5 }),
      {
        series,
        discoveryIntervalMs: 900_000,
        serials: undefined,
        shard: { index: 0, total: 1 },
        staleAfter: 3,
        forgetAfterMs: 86_400_000,
        lookbackMs: this.#lookbackMs,
        binSeconds: this.#binMs / 1000,
        collectors: [],
        bounds: [],
        wantedSince,
      },
      { clock, log: noLog },
    );
    await this.#through(portal.inventory.discover(this.#stop.signal));
    return portal;
  }

  /** Reads the inventory again. */
  async discover(): Promise<void> {
    if (this.#portal !== undefined) await this.#through(this.#portal.inventory.discover(this.#stop.signal));
  }

  #refusal(period: string): number | undefined {
    const found = parsePeriod(period, this.clock.now());
    return typeof found === 'string' ? undefined : this.refuse?.(found);
  }

  get #binMs(): number {
    return 1000 * (this.#settings.binSeconds ?? 60);
  }

  get #lookbackMs(): number {
    return this.#settings.lookbackMs ?? 900_000;
  }

  /** What was counted in all lives. */
  get counts() {
    const now = this.remote.status();
    const above = (kind: 'dropped' | 'lost') =>
      Object.fromEntries(
        [...now[kind]].flatMap(([reason, count]) => {
          const all = count + (this.#told[kind].get(reason) ?? 0);
          return all > 0 ? [[reason, all] as const] : [];
        }),
      );
    return { droppedPoints: above('dropped'), lost: above('lost') };
  }

  /** Polls every series once, sends what came, and lets five minutes pass. */
  async round({ polls = true, sends = true } = {}): Promise<void> {
    if (polls) await this.poll();
    if (sends) await this.remote.flush(this.#stop.signal);
    await this.clock.advance(POLL_MS);
  }

  /** Rounds for so many hours. */
  async hours(hours: number, what?: Parameters<Play['round']>[0]): Promise<void> {
    for (let left = hours * HOUR_MS; left > 0; left -= POLL_MS) await this.round(what);
  }

  /** Polls every series once; what fails is left for the next round. */
  async poll(): Promise<void> {
    const tasks = this.#portal?.tasks().filter(({ operation }) => operation !== 'serials') ?? [];
    for (const task of tasks) {
      const reading = await this.#through(task.poll(this.#stop.signal).catch(() => undefined));
      if (reading === undefined) continue;
      this.exposed.set(task.id, [...reading.samples]);
      await this.remote.accept(task, reading);
    }
  }

  /** Every point that the stand-in holds in a period, by series and time in milliseconds. */
  async truth(from: number, to: number): Promise<Points> {
    const truth: Points = new Map();
    this.refuse = undefined;
    const portal = await this.#collector(() => from);
    const own = { binMs: this.#binMs, labels: LABELS, now: to + 1e9 };
    const pointsIn = (reading: PollResult | undefined) =>
      reading?.points === undefined ? [] : newPoints(reading.points, { at: 0, sum: undefined }, own).series;
    for (const task of portal.tasks()) {
      const reading = await this.#through(task.poll(this.#stop.signal).catch(() => undefined));
      for (const { labels, times, values } of pointsIn(reading)) {
        const points = truth.get(seriesKey(labels)) ?? new Map<number, number>();
        truth.set(seriesKey(labels), points);
        for (const [index, time] of times.entries()) {
          if (time >= from && time <= to) points.set(time, values[index] ?? Number.NaN);
        }
      }
    }
    return truth;
  }

  /** Waits for something in memory, and lets time pass only where it waits for time, as a repeated request does. */
  async #through<Value>(promise: Promise<Value>): Promise<Value> {
    let isOver = false;
    const watched = promise.finally(() => {
      isOver = true;
    });
    for (let turns = 0; !isOver; turns += 1) {
      await settle();
      if (turns % 50 === 49) await this.clock.advance(500);
    }
    return watched;
  }

  async close(): Promise<void> {
    this.#stop.abort();
    await this.standIn.close();
  }

  #newRemote(): RemoteWrite {
    const clock = this.#own;
    const catchUpMs = this.#settings.catchUpMs ?? 6 * HOUR_MS;
    return new RemoteWrite(
      {
        labels: LABELS,
        catchUpMs,
        isExposedToo: false,
        lookbackMs: this.#lookbackMs,
        sweepMs: POLL_MS,
        binMs: this.#binMs,
      },
      this.#settings.send,
      { clock, random: () => 0.5, log: noLog },
    );
  }
}

/** Answers some requests for a period itself. */
class PickyDispatcher extends MemoryDispatcher {
  readonly #refusal: (period: string) => number | undefined;

  constructor(listener: RequestListener, refusal: (period: string) => number | undefined) {
    super(listener);
    this.#refusal = refusal;
  }

  override dispatch(options: Dispatcher.DispatchOptions, handler: Dispatcher.DispatchHandler): boolean {
    const period = /"period":"([^"]+)"/.exec(String(options.body))?.[1];
    const status = period === undefined ? undefined : this.#refusal(period);
    if (status === undefined) return super.dispatch(options, handler);
    return new MemoryDispatcher((_, response) => response.writeHead(status).end()).dispatch(options, handler);
  }
}

/** Values by series and time in milliseconds. */
export type Points = Map<string, Map<number, number>>;

/** A series as one text. */
export function seriesKey(labels: Iterable<readonly [string, string]>): string {
  return [...labels]
    .filter(([, value]) => value !== '')
    .sort(([one], [other]) => (one < other ? -1 : 1))
    .map(([name, value]) => `${name}=${value}`)
    .join(',');
}

/** What of the truth a receiver lacks, has otherwise, or has too much of. */
export function differences(truth: Points, received: Points): readonly string[] {
  const found: string[] = [];
  for (const [series, points] of truth) {
    const got = received.get(series) ?? new Map<number, number>();
    for (const [time, value] of points) {
      const other = got.get(time);
      if (other === undefined) found.push(`missing: ${series} at ${new Date(time).toISOString()}`);
      // VictoriaMetrics keeps fifteen digits.
      else if (Math.abs(other - value) > 1e-14 * Math.abs(value))
        found.push(`changed: ${series} at ${new Date(time).toISOString()}: ${value}, got ${other}`);
    }
    for (const time of got.keys())
      if (!points.has(time)) found.push(`too much: ${series} at ${new Date(time).toISOString()}`);
  }
  for (const series of received.keys()) if (!truth.has(series)) found.push(`unknown: ${series}`);
  return found;
}
