import type { PolledTask } from './polled-task.ts';
import { type FreeWorkers, type TaskKind, taskKind } from './schedule.ts';

/** Polls that may hang occupy this part of the workers' time at most. */
const FAILING_SHARE = 1 / 4;

/** What is in flight. What hangs holds a worker until the time-out, so failing tasks share a part of the workers. */
export class Workers {
  readonly #count: number;
  readonly #maxFailing: number;
  /** With fewer than four workers, one failing poll is more than the share. A pause makes up for it, so many times as long. */
  readonly #pauseFactor: number;
  readonly #inFlight = new Map<PolledTask, { readonly kind: TaskKind; readonly startedAt: number }>();
  #failingPausedUntil = Number.NEGATIVE_INFINITY;

  constructor(count: number) {
    this.#count = count;
    this.#maxFailing = Math.max(1, Math.floor(count * FAILING_SHARE));
    this.#pauseFactor = Math.max(0, 1 / (count * FAILING_SHARE) - 1);
  }

  get isOneFree(): boolean {
    return this.#inFlight.size < this.#count;
  }

  get isSeriesInFlight(): boolean {
    return [...this.#inFlight.keys()].some(({ appliance }) => appliance !== undefined);
  }

  /** Failing and awaited tasks together leave one worker to the others. */
  roomAt(now: number): Omit<FreeWorkers, 'forSeries'> {
    const failing = this.#countOf('failing');
    return {
      forFailing: failing < this.#maxFailing && now >= this.#failingPausedUntil,
      forAwaited: failing + this.#countOf('awaited') < Math.max(1, this.#count - 1),
    };
  }

  start(polled: PolledTask, now: number): void {
    this.#inFlight.set(polled, { kind: taskKind(polled), startedAt: now });
    polled.isInFlight = true;
    polled.isAwaited = false;
    polled.dueAt = Number.POSITIVE_INFINITY;
  }

  /** Returns how long the poll took, in milliseconds. */
  end(polled: PolledTask, hasFailed: boolean, now: number): number {
    const durationMs = now - (this.#inFlight.get(polled)?.startedAt ?? now);
    this.#inFlight.delete(polled);
    polled.isInFlight = false;
    if (hasFailed) this.#failingPausedUntil = now + durationMs * this.#pauseFactor;
    return durationMs;
  }

  #countOf(kind: TaskKind): number {
    return [...this.#inFlight.values()].filter((poll) => poll.kind === kind).length;
  }
}
