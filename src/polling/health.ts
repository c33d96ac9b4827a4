import { CredentialError } from '../runtime/errors.ts';
import type { Random } from '../runtime/random.ts';
import type { Outcome } from './poll.ts';
import type { TaskState } from './task-state.ts';

/** Time between two probes, in milliseconds: doubling from the first to the longest. */
const PROBE = { firstMs: 2_000, longestMs: 30_000 } as const;

/** After this share of an interval without any answer, the API may be down: many appliances that fail take turns. */
const QUIET_SHARE = 0.2;

/**
 * Whether the series of appliances are down as a whole: every polled appliance has failed since the last answer about
 * any. Then a single probe leaves every few seconds instead of a fleet of requests, and its first answer ends it.
 * Rejected credentials bring it down at once. Operations of the account neither count nor are held. Pure; times are
 * monotonic milliseconds.
 */
export class SeriesHealth {
  readonly #maxFailures: number;
  readonly #random: Random;
  #isDown = false;
  #failures = 0;
  readonly #failing = new Set<string>();
  #answeredAt = Number.NEGATIVE_INFINITY;
  #probes = 0;
  #nextProbe = 0;
  #probe: TaskState | undefined;

  /** `maxFailures`: in a row, or the number of series if that is smaller. */
  constructor(maxFailures: number, random: Random) {
    this.#maxFailures = maxFailures;
    this.#random = random;
  }

  /** Polls of series are limited to probes. */
  get isDown(): boolean {
    return this.#isDown;
  }

  get answeredAt(): number {
    return this.#answeredAt;
  }

  observe(state: TaskState, outcome: Outcome, series: readonly TaskState[], now: number): void {
    const wasProbe = state === this.#probe;
    if (wasProbe) this.#probe = undefined;
    const { appliance, intervalMs } = state.task;
    if (outcome.state === 'aborted') return;
    const isCredentials = outcome.state === 'failed' && outcome.error instanceof CredentialError;
    if (appliance === undefined && !isCredentials) return;
    if (outcome.state !== 'failed') {
      this.#answered(now, intervalMs);
      return;
    }
    this.#failures += 1;
    if (appliance !== undefined) this.#failing.add(appliance.serial);
    if (this.#isDown) {
      // Polls that were in flight when it went down fail one by one; they add nothing.
      if (wasProbe) this.#scheduleProbe(outcome.error, series, now);
      return;
    }
    if (!isCredentials && !this.#isSilent(series, now, intervalMs)) return;
    this.#isDown = true;
    this.#scheduleProbe(outcome.error, series, now);
  }

  /** How long to wait before the next probe may start, in milliseconds; infinite until the one in flight has ended. */
  waitMs(now: number): number {
    return this.#probe === undefined ? Math.max(0, this.#nextProbe - now) : Number.POSITIVE_INFINITY;
  }

  starting(probe: TaskState): void {
    this.#probe = probe;
  }

  #answered(now: number, intervalMs: number): void {
    // Repeated outages do not increase the rate of probes.
    if (!this.#isDown && now - this.#nextProbe > intervalMs) this.#probes = 0;
    this.#isDown = false;
    this.#failures = 0;
    this.#failing.clear();
    this.#answeredAt = now;
  }

  #isSilent(series: readonly TaskState[], now: number, intervalMs: number): boolean {
    if (this.#failures < Math.min(this.#maxFailures, series.length)) return false;
    // Without any answer so far nothing else is known.
    if (this.#answeredAt === Number.NEGATIVE_INFINITY) return true;
    if (now - this.#answeredAt < QUIET_SHARE * intervalMs) return false;
    return series.every(
      ({ task, backedOff }) => backedOff !== undefined || this.#failing.has(task.appliance?.serial ?? ''),
    );
  }

  /** No more often than polls when healthy, and not before it can be sent: one that fails unsent delays the next. */
  #scheduleProbe(error: Error, series: readonly TaskState[], now: number): void {
    const demand = series.reduce((sum, { task }) => sum + 1 / task.intervalMs, 0);
    const delay = Math.max(Math.min(PROBE.longestMs, PROBE.firstMs * 2 ** this.#probes), demand > 0 ? 1 / demand : 0);
    this.#probes += 1;
    const spread = (delay * this.#random()) / 2;
    const pausedUntil = error instanceof CredentialError ? error.pausedUntil : undefined;
    this.#nextProbe = Math.max(now + 0.75 * delay, pausedUntil ?? now) + spread;
  }
}
