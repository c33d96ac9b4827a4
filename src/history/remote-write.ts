import type { Minutes } from '../contract/poll-result.ts';
import type { SavedPart } from '../contract/saved-part.ts';
import type { Task } from '../contract/task.ts';
import type { Clock } from '../runtime/clock.ts';
import type { Log } from '../runtime/log.ts';
import { increment } from '../runtime/maps.ts';
import { type CursorOptions, Cursors, FUTURE_MS } from './cursors.ts';
import { Sender, type SenderDependencies } from './sender.ts';

export interface RemoteWriteOptions extends CursorOptions {
  /** The most points that wait. A full queue takes nothing: the cursors stay, and the service keeps the minutes. */
  readonly maxWaiting: number;
}

/**
 * Why minutes are never sent. `catch_up`: they are older than REMOTE_WRITE_CATCH_UP. `unread`: the service cannot return
 * them.
 */
type LossReason = 'catch_up' | 'unread';

/** Points are gathered for this time before they are sent. */
const GATHER_MS = 5_000;

/**
 * How long after its end the newest bin of a response waits for a newer one: an appliance reports every five minutes, and its
 * report may end within a bin.
 */
const COMPLETE_AFTER_MS = 600_000;

/** A period without records is requested again for this time, because an appliance that was cut off reports late. */
const LATE_MS = 6 * 3_600_000;

/**
 * Sends every minute to a receiver of Prometheus remote write, with its own time. A cursor for each task says which minutes
 * the next poll has to return; what waits is in one queue, and one sender empties it.
 */
export class RemoteWrite implements SavedPart {
  readonly name = 'remote_write';
  readonly #options: RemoteWriteOptions;
  readonly #clock: Clock;
  readonly #log: Log;
  readonly #cursors: Cursors;
  readonly #sender: Sender;
  readonly #logged = new Set<LossReason>();
  /** Lost seconds by reason, each for one task. */
  readonly #lost = new Map<LossReason, number>([
    ['catch_up', 0],
    ['unread', 0],
  ]);
  /** The time at which history began, in epoch milliseconds. */
  #begun: number | undefined;

  constructor(options: RemoteWriteOptions, dependencies: SenderDependencies) {
    this.#options = options;
    this.#clock = dependencies.clock;
    this.#log = dependencies.log;
    this.#cursors = new Cursors(options, dependencies.clock);
    this.#sender = new Sender(dependencies);
  }

  status() {
    const { sent, waiting, dropped, responses } = this.#sender;
    const newest = this.#newest;
    return { sent, waiting, dropped, responses, lost: this.#lost, newestSeconds: newest && newest / 1000 };
  }

  /** The time after which a poll has to return all minutes; undefined if it need not. */
  minutesSince(task: Pick<Task, 'id' | 'now'>): number | undefined {
    const now = task.now?.();
    if (now === undefined || this.#isFull) return undefined;
    const { at } = this.#cursors.of(task.id, now);
    this.#begun = Math.min(this.#begun ?? at, now);
    return at;
  }

  /** Queues the minutes that a poll of a task has read, as far as they are new and complete. */
  accept(task: string, { bins, now, until, unreadUntil = 0 }: Minutes): void {
    const { binMs, lookbackMs } = this.#options;
    const cursor = this.#cursors.get(task);
    if (cursor === undefined) return;
    if (unreadUntil > cursor.at) {
      this.#lose(task, 'unread', unreadUntil - cursor.at);
      cursor.at = unreadUntil;
    }
    const newer = [...bins].filter(({ at }) => at > cursor.at && at <= now + FUTURE_MS);
    if (newer.length === 0) cursor.emptyUntil = Math.min(until, now - lookbackMs);
    else this.#lose(task, 'catch_up', cursor.skippedMs);
    // What was skipped before a period that could not be read may still turn out to be lost.
    if (until > cursor.at) cursor.skippedMs = 0;
    const newest = newer.at(-1)?.at;
    for (const bin of newer) {
      if (bin.at === newest && now - bin.at < binMs + COMPLETE_AFTER_MS) break;
      if (this.#isFull) return;
      const samples = bin.samples();
      if (samples.length === 0) continue;
      this.#sender.add({ cursor, at: bin.at, samples, previous: cursor.at, mayHaveArrived: cursor.isNew });
      cursor.at = bin.at;
    }
    cursor.isNew = false;
    cursor.at = Math.max(cursor.at, Math.min(until, now - LATE_MS));
  }

  /** The task has left the inventory. */
  leave(task: string): void {
    this.#cursors.leave(task);
  }

  /** Never rejects. */
  async run(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      await this.#clock.sleep(GATHER_MS, signal);
      const waitMs = await this.flush(signal);
      if (waitMs !== undefined) await this.#clock.sleep(waitMs, signal);
      this.#cursors.forgetIdle();
    }
  }

  /** Sends all waiting points; returns how long to wait if the receiver fails, in milliseconds. */
  flush(signal: AbortSignal): Promise<number | undefined> {
    return this.#sender.flush(signal);
  }

  save() {
    return { newest: this.#newest ?? null, cursors: this.#cursors.save(this.#sender.bins()) };
  }

  restore(saved: unknown): void {
    const { newest, cursors } = saved as ReturnType<RemoteWrite['save']>;
    this.#cursors.restore(cursors);
    this.#begun = newest ?? undefined;
  }

  /** The newest minute that the receiver has. Until it has one, where history began, so that a dead receiver does not look healthy. */
  get #newest(): number | undefined {
    const { newest } = this.#sender;
    return Number.isFinite(newest) ? newest : this.#begun;
  }

  get #isFull(): boolean {
    return this.#sender.waiting >= this.#options.maxWaiting;
  }

  #lose(task: string, reason: LossReason, ms: number): void {
    if (ms <= 0) return;
    increment(this.#lost, reason, ms / 1000);
    if (this.#logged.has(reason)) return;
    this.#logged.add(reason);
    this.#log.warn({ reason, task, seconds: ms / 1000 }, 'Minutes of history were lost.');
  }
}
