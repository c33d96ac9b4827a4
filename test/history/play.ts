import pLimit from 'p-limit';
import { type StandIn, startStandIn, type Variations } from '../../src/demo/stand-in.ts';
import { newPoints } from '../../src/history/new-points.ts';
import type { Send } from '../../src/history/receiver.ts';
import { RemoteWrite } from '../../src/history/remote-write.ts';
import type { Labels } from '../../src/metrics/family.ts';
import type { Sample } from '../../src/metrics/samples.ts';
import { Secret } from '../../src/runtime/secret.ts';
import { STANDARD_SERIES } from '../../src/sources/portal/appliances/operations.ts';
import { PortalClient } from '../../src/sources/portal/client.ts';
import { PortalCollector } from '../../src/sources/portal/collector.ts';
import { portalRequests } from '../../src/sources/portal/requests.ts';
import { TokenSource } from '../../src/sources/portal/token.ts';
import { JsonClient } from '../../src/transport/client.ts';
import { MeasuredRate } from '../../src/transport/rate/adaptive-rate.ts';
import { Budget } from '../../src/transport/rate/budget.ts';
import { Pace } from '../../src/transport/rate/pace.ts';
import { Pacer } from '../../src/transport/rate/pacer.ts';
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

export interface PlaySettings {
  readonly appliances: number;
  readonly series?: readonly string[];
  readonly catchUpMs?: number;
  readonly variations?: Partial<Variations>;
  readonly send: Send;
  /** Epoch milliseconds. */
  readonly start: number;
}

/** A stand-in, and an exporter's life after another that polls it and sends. */
export class Play {
  readonly clock: ManualClock;
  readonly standIn: StandIn;
  readonly #settings: PlaySettings;
  readonly #stop = new AbortController();
  #portal: PortalCollector | undefined;
  remote: RemoteWrite;
  /** What `/metrics` would show now: the newest value of each series. */
  readonly exposed = new Map<string, readonly Sample[]>();

  private constructor(settings: PlaySettings, clock: ManualClock, standIn: StandIn) {
    this.#settings = settings;
    this.clock = clock;
    this.standIn = standIn;
    this.remote = this.#newRemote();
  }

  static async begin(settings: PlaySettings): Promise<Play> {
    const clock = new ManualClock(settings.start);
    const { appliances, variations = {} } = settings;
    const standIn = await startStandIn({ clock, appliances, variations: { rateLimit: null, ...variations } });
    const play = new Play(settings, clock, standIn);
    await play.restart();
    return play;
  }

  /** A new life of the exporter, which knows what was saved last; by default all that has arrived. */
  async restart(saved: unknown = this.remote.cursors.state(this.clock.now())): Promise<void> {
    this.remote = this.#newRemote();
    this.remote.cursors.restore(saved)();
    this.#portal = await this.#collector((task) => this.remote.wantedSince(task));
  }

  async #collector(wantedSince: (task: string) => number | undefined): Promise<PortalCollector> {
    const { clock, standIn } = this;
    const now = clock.monotonic();
    const limit = { requests: 1_000_000, windowMs: 1_000 };
    const client = new JsonClient({
      secrets: () => [],
      baseUrl: standIn.portalUrl,
      userAgent: 'play',
      dispatcher: new MemoryDispatcher(standIn.serve),
      clock,
      pacer: new Pacer(new Pace(limit, new MeasuredRate(1_000, now), now), new Budget(undefined, now), clock),
      limit: pLimit(8),
      observer: { started: () => {}, ended: () => {}, throttled: () => {} },
      timeoutMs: 30_000,
      allowed: portalRequests,
      limitsOf: () => ({ bytes: 32_000_000, isByMemory: false, weight: Number.POSITIVE_INFINITY }),
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
        lookbackMs: 900_000,
        binSeconds: 60,
        collectors: [],
        bounds: [],
        wantedSince,
      },
      { clock, log: noLog },
    );
    await this.#through(portal.inventory.discover(this.#stop.signal));
    return portal;
  }

  /** What was counted in this life. */
  get counts() {
    const { dropped, holes } = this.remote.status();
    const droppedPoints = Object.fromEntries([...dropped].filter(([, points]) => points > 0));
    return { droppedPoints, holes: Object.fromEntries(holes) };
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
    const portal = await this.#collector(() => from);
    for (const task of portal.tasks()) {
      const reading = await this.#through(task.poll(this.#stop.signal).catch(() => undefined));
      for (const { labels, times, values } of newPoints(reading?.points ?? [], undefined, to + 1e9, LABELS).series) {
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
    const { clock } = this;
    const catchUpMs = this.#settings.catchUpMs ?? 6 * HOUR_MS;
    return new RemoteWrite(
      { labels: LABELS, catchUpMs, isExposedToo: false, lookbackMs: 900_000, sweepMs: POLL_MS },
      this.#settings.send,
      { clock, random: () => 0.5, log: noLog },
    );
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
