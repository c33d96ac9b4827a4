import type { RequestListener } from 'node:http';
import type { Dispatcher } from 'undici';
import { type MockServices, startMockServices, type Variations } from '../../src/demo/mock-services.ts';
import { parsePeriod } from '../../src/demo/portal/period.ts';
import type { Send } from '../../src/history/delivery.ts';
import { selectPoints } from '../../src/history/points.ts';
import { RemoteWrite } from '../../src/history/remote-write.ts';
import type { Labels } from '../../src/metrics/family.ts';
import type { Sample } from '../../src/metrics/samples.ts';
import { Secret } from '../../src/runtime/secret.ts';
import { runToEnd } from '../../src/runtime/slices.ts';
import { STANDARD_SERIES } from '../../src/services/portal/appliances/series-operations.ts';
import { PortalClient } from '../../src/services/portal/client.ts';
import { PortalCollector } from '../../src/services/portal/collector.ts';
import { TokenSource } from '../../src/services/portal/token.ts';
import { keyOf } from '../harness/receiver.ts';
import { readAgain, restoreInto } from '../support/kept.ts';
import { ManualClock, settle } from '../support/manual-clock.ts';
import { MemoryDispatcher } from '../support/memory-dispatcher.ts';
import { clientOf, noLog } from '../support/mock-api.ts';
import { portalOptions } from '../support/portal-parts.ts';

/*
 * Hours of polling and sending on a manual clock: the program's own collector and remote write, between the mock portal and
 * a receiver. Only the receiver may be real.
 */

export const MINUTE_MS = 60_000;
const POLL_MS = 5 * MINUTE_MS;
const HOUR_MS = 60 * MINUTE_MS;

export const LABELS: Labels = { job: 'filer-exporter-minutes', instance: 'played:9989' };

export interface PlayOptions {
  readonly appliances: number;
  readonly series?: readonly string[];
  readonly variations?: Partial<Variations>;
  readonly send: Send;
  /** Epoch milliseconds. */
  readonly start: number;
}

/** The status with which the portal answers a request for a period, instead of the records; undefined answers it. */
export type Refuse = (period: { readonly startMs: number; readonly endMs: number }) => number | undefined;

/** A mock portal, and one process after another that polls it and sends. */
export class PortalPlay {
  readonly clock: ManualClock;
  readonly mocks: MockServices;
  readonly #settings: PlayOptions;
  readonly #stop = new AbortController();
  readonly #portal: PortalCollector;
  /** The remote write of each process, the present one last. */
  readonly processes: RemoteWrite[] = [];
  refuse: Refuse | undefined;
  /** The periods that were requested. */
  readonly periods: string[] = [];
  /** What `/metrics` would show now. */
  readonly exposed = new Map<string, readonly Sample[]>();

  private constructor(settings: PlayOptions, clock: ManualClock, mocks: MockServices) {
    this.#settings = settings;
    this.clock = clock;
    this.mocks = mocks;
    this.processes.push(this.#newRemote());
    this.#portal = this.#newPortal();
  }

  static async begin(settings: PlayOptions): Promise<PortalPlay> {
    const clock = new ManualClock(settings.start);
    const { appliances, variations = {} } = settings;
    const mocks = await startMockServices({ clock, appliances, variations: { rateLimit: null, ...variations } });
    const play = new PortalPlay(settings, clock, mocks);
    await play.#through(play.#portal.inventory.discover(play.#stop.signal));
    // No poll is at the beginning of a minute.
    await clock.advance(500);
    return play;
  }

  get remote(): RemoteWrite {
    return this.processes.at(-1) as RemoteWrite;
  }

  /** A new process, which knows what was saved last: by default everything. */
  restart(saved: readonly unknown[] | null = readAgain(this.remote.cursors.all())): void {
    this.processes.push(this.#newRemote());
    if (saved !== null) restoreInto(this.remote.cursors, saved);
  }

  /** Polls every series once, sends what came, and lets five minutes pass. */
  async round({ polls = true, sends = true } = {}): Promise<void> {
    if (polls) await this.poll();
    if (sends) await this.remote.flush(this.#stop.signal);
    await this.clock.advance(POLL_MS);
  }

  async hours(hours: number, what?: Parameters<PortalPlay['round']>[0]): Promise<void> {
    for (let left = hours * HOUR_MS; left > 0; left -= POLL_MS) await this.round(what);
  }

  /** Polls every series once; what fails is left for the next round. Returns how many failed. */
  async poll(): Promise<number> {
    let failed = 0;
    for (const task of this.#tasks) {
      const window = this.remote.windowOf(task);
      const reading = await this.#through(task.poll(this.#stop.signal, window).catch(() => undefined));
      if (reading === undefined) {
        this.remote.release(task.id);
        failed += 1;
        continue;
      }
      this.exposed.set(task.id, [...reading.samples]);
      await this.remote.accept(task, reading);
    }
    return failed;
  }

  /** Every point that the mock portal has in a period, by series and time in milliseconds. */
  async truth(from: number, to: number): Promise<Points> {
    const truth: Points = new Map();
    this.refuse = undefined;
    for (const { readHistory } of this.#tasks) {
      const found = await this.#through(
        readHistory?.(from, to, this.#stop.signal) ?? Promise.reject(new Error('no past')),
      );
      const options = { from, to: to + 1, binMs: MINUTE_MS, labels: LABELS, now: to + 1e9 };
      const { series } = runToEnd(selectPoints(found.bins, options, new Map()));
      for (const { labels, times, values } of series)
        truth.set(keyOf(Object.fromEntries(labels)), new Map(times.map((time, index) => [time, values[index] ?? 0])));
    }
    return truth;
  }

  async close(): Promise<void> {
    this.#stop.abort();
    await this.mocks.close();
  }

  get #tasks() {
    return [...this.#portal.tasks()].filter(({ readHistory }) => readHistory !== undefined);
  }

  #newPortal(): PortalCollector {
    const { clock, mocks } = this;
    const dispatcher = new PickyDispatcher(mocks.serve, (period) => this.#refusal(period));
    const limits = { bytes: 32_000_000, isByMemory: false, parsedBytes: Number.POSITIVE_INFINITY };
    const client = clientOf(mocks.portalUrl, dispatcher, clock, { limitsOf: () => limits });
    const tokens = new TokenSource(client, { kind: 'user_key', key: Secret.of(mocks.credentials.userKey) }, clock);
    const series = (this.#settings.series ?? STANDARD_SERIES).map((name) => ({ name, intervalMs: POLL_MS }));
    return new PortalCollector(
      new PortalClient(client, tokens, { clock, random: () => 0.5 }),
      portalOptions({ series }),
      { clock, log: noLog },
    );
  }

  #refusal(period: string): number | undefined {
    this.periods.push(period);
    const found = parsePeriod(period, this.clock.now());
    return typeof found === 'string' ? undefined : this.refuse?.(found);
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

  #newRemote(): RemoteWrite {
    const { clock } = this;
    return new RemoteWrite(
      {
        labels: LABELS,
        catchUpMs: 6 * HOUR_MS,
        forgetAfterMs: 24 * HOUR_MS,
        lookbackMs: 15 * MINUTE_MS,
        intervalMs: POLL_MS,
        binMs: MINUTE_MS,
      },
      this.#settings.send,
      // What is saved is what the cursors say when the process ends.
      { clock, random: () => 0.5, log: noLog, saveCursors: async () => {} },
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

/** What of the truth a receiver lacks, has otherwise, or has too much of. */
export function differences(truth: Points, held: Points): readonly string[] {
  const found: string[] = [];
  for (const [series, points] of truth) {
    const got = held.get(series) ?? new Map<number, number>();
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
  for (const series of held.keys()) if (!truth.has(series)) found.push(`unknown: ${series}`);
  return found;
}
