import type { Window, WindowBins } from '../contract/minutes.ts';
import type { PollResult } from '../contract/poll-result.ts';
import type { ResultSource, Sink } from '../contract/sink.ts';
import type { Task } from '../contract/task.ts';
import type { Labels } from '../metrics/family.ts';
import type { Clock } from '../runtime/clock.ts';
import type { Log } from '../runtime/log.ts';
import type { Random } from '../runtime/random.ts';
import { runInSlices } from '../runtime/slices.ts';
import type { Cursor } from './cursor.ts';
import { HistoryCursors } from './cursors.ts';
import { Delivery, type Send } from './delivery.ts';
import { selectPoints, type UnusedReason } from './points.ts';
import { pick, type TaskBatch } from './queue.ts';
import { type WindowOptions, Windows } from './window.ts';

export interface RemoteWriteOptions extends WindowOptions {
  readonly labels: Labels;
  readonly forgetAfterMs: number;
}

export interface RemoteWriteDependencies {
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  /** Saves the changes of the cursors without waiting for the disk; missing without a state file. */
  readonly saveCursors?: (() => Promise<void>) | undefined;
}

/** The largest number of points that wait or are expected. What exceeds it is requested again later. */
const MAX_WAITING = 200_000;

/** Points are gathered for this time before they are sent. */
const GATHER_MS = 1_000;

/** A period that cannot be read is requested for this time; then history continues after it. */
const UNREAD_MS = 3_600_000;

/**
 * Sends every point once and in order to one receiver. Before each poll it decides which minutes the task requests. It
 * stores no history: a cursor for each task marks what the receiver has, and the rest is requested again.
 */
export class RemoteWrite implements Sink {
  readonly cursors: HistoryCursors;
  readonly #options: RemoteWriteOptions;
  readonly #clock: Clock;
  readonly #windows: Windows;
  readonly #delivery: Delivery;
  /** The points that the windows of polls in progress may return. */
  #reserved = 0;
  /** The service's clock less this machine's monotonic one; undefined before the first poll. */
  #aheadMs: number | undefined;

  constructor(options: RemoteWriteOptions, send: Send, dependencies: RemoteWriteDependencies) {
    const { clock, log } = dependencies;
    const { binMs, lookbackMs, catchUpMs, forgetAfterMs } = options;
    this.#options = options;
    this.#clock = clock;
    const stays = Math.max(forgetAfterMs, catchUpMs);
    this.cursors = new HistoryCursors({ binMs, lookbackMs, catchUpMs, forgetAfterMs: stays }, clock, log);
    this.#windows = new Windows(options);
    const parts = { send, cursors: this.cursors, windows: this.#windows, binMs, now: () => this.#now };
    this.#delivery = new Delivery({ ...dependencies, ...parts });
  }

  status() {
    const { newest, dropped, lost } = this.cursors;
    const { sent, waiting, responses } = this.#delivery;
    return { sent, waiting, dropped, lost, responses, newestSeconds: newest && newest / 1000 };
  }

  /**
   * Returns the minutes that a poll has to return in addition to the newest ones; undefined for none. `accept` or
   * `release` ends the window.
   */
  windowOf(task: Pick<Task, 'id' | 'now'>): Window | undefined {
    const now = task.now?.();
    if (now === undefined) return undefined;
    const aheadMs = now - this.#clock.monotonic();
    if (this.#aheadMs !== undefined) this.cursors.moveClock(aheadMs - this.#aheadMs);
    this.#aheadMs = aheadMs;
    const cursor = this.cursors.of(task.id, now);
    if (!this.#delivery.isHealthy || cursor.batches > 0 || cursor.window !== undefined) return undefined;
    const room = MAX_WAITING - this.#delivery.waiting - this.#reserved;
    cursor.window = this.#windows.of(cursor, now, this.cursors.newestSeen, room);
    this.#reserved += this.#expected(cursor);
    return cursor.window;
  }

  /** Ends the window of a poll that failed. */
  release(task: string): void {
    const cursor = this.cursors.get(task);
    if (cursor?.window === undefined) return;
    this.#reserved -= this.#expected(cursor);
    cursor.window = undefined;
  }

  async accept({ id }: ResultSource, { minutes }: PollResult): Promise<void> {
    const cursor = this.cursors.get(id);
    const window = cursor?.window;
    try {
      if (cursor !== undefined && window !== undefined && minutes !== undefined)
        await runInSlices(this.#take(cursor, window, minutes), this.#clock);
    } finally {
      this.release(id);
    }
  }

  withdraw(id: string, keepsCounts = false): void {
    if (!keepsCounts) this.cursors.markGone(id, this.#now);
  }

  /** Never rejects. */
  async run(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      await this.#clock.sleep(GATHER_MS, signal);
      const waitMs = await this.flush(signal);
      if (waitMs !== undefined) await this.#clock.sleep(waitMs, signal);
    }
  }

  /** Sends all waiting points; returns how long to wait if the receiver fails, in milliseconds. */
  flush(signal: AbortSignal): Promise<number | undefined> {
    return this.#delivery.flush(signal);
  }

  get #now(): number {
    return this.#aheadMs === undefined ? this.#clock.now() : this.#aheadMs + this.#clock.monotonic();
  }

  #expected({ window, pointsPerBin }: Cursor): number {
    return window === undefined ? 0 : ((window.to - window.from) / this.#options.binMs) * pointsPerBin;
  }

  *#take(cursor: Cursor, window: Window, response: WindowBins): Generator<void> {
    const { binMs, labels } = this.#options;
    const { requestedAt: now, to, failure } = response;
    const bins = [...response];
    this.cursors.dropLate(cursor, bins);
    if (failure !== undefined) {
      cursor.failingSince ??= now;
      if (failure.reason === 'rejected' || now - cursor.failingSince > UNREAD_MS) cursor.unreadable = failure;
    } else if (to > window.start) cursor.failingSince = undefined;
    const unused = new Map<UnusedReason, number>();
    const selected = yield* selectPoints(bins, { from: window.from, to, binMs, labels, now }, unused);
    for (const [reason, count] of unused) this.cursors.drop(reason, count);
    const isTooOld = (at: number) => at >= window.start && at < Math.min(window.from, to);
    const tooOld = [...new Set(bins.map(({ at }) => at))].filter(isTooOld);
    const first = tooOld[0] ?? selected.times[0];
    const seen = Math.min(to, now);
    if (first === undefined) {
      if (window.skips === undefined) this.cursors.advance(cursor, [], false, seen);
      return;
    }
    this.cursors.skip(cursor, window, first);
    this.cursors.loseTooOld(cursor, tooOld);
    const batch = this.#fitting({ ...selected, cursor, seen });
    // The reservation was made with the old number of points for each bin.
    this.release(cursor.task);
    cursor.pointsPerBin = Math.max(1, Math.ceil(selected.count / Math.max(1, selected.times.length)));
    if (selected.count === 0) this.cursors.advance(cursor, selected.times, false, seen);
    else if (batch !== undefined) this.#delivery.add(batch);
  }

  /**
   * Returns the part of a batch that fits. More points than the window expected arrive if the service returns more for
   * each bin than before.
   */
  #fitting(batch: TaskBatch): TaskBatch | undefined {
    const room = MAX_WAITING - this.#delivery.waiting - this.#reserved + this.#expected(batch.cursor);
    if (batch.count <= room) return batch;
    const bins = Math.floor((batch.times.length * room) / batch.count);
    const end = batch.times[bins];
    return end === undefined ? undefined : pick(batch, 0, end);
  }
}
