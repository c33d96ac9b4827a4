import { uptime } from 'node:os';
import { performance } from 'node:perf_hooks';

export interface Clock {
  /** Milliseconds since the Unix epoch; steps when the operator or NTP steps the system clock. */
  now(): number;
  /** Milliseconds since some fixed moment; never goes backwards, so durations and deadlines are measured with it. */
  monotonic(): number;
  /** Resolves after `ms`, or as soon as `signal` aborts: waking early is not an error. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>;
}

/** Calls `late` after `ms`, unless the returned function is called before. */
export function callAfter(clock: Clock, ms: number, late: () => void): () => void {
  const ended = new AbortController();
  void clock.sleep(ms, ended.signal).then(() => {
    if (!ended.signal.aborted) late();
  });
  // With a reason: otherwise Node makes an error with its stack, for every request.
  return () => ended.abort('ended');
}

/** Resolves as `work` does, or rejects with `late()` after `ms`; what comes of `work` then is ignored. */
export function withTimeout<Result>(
  work: Promise<Result>,
  clock: Clock,
  ms: number,
  late: () => Error,
): Promise<Result> {
  return new Promise((resolve, reject) => {
    const end = callAfter(clock, ms, () => reject(late()));
    work.then(resolve, reject).finally(end);
  });
}

/** The longest delay that Node's timers accept; a longer one would fire at once. */
const MAX_TIMER_MS = 2_147_483_647;

const SLEEP_LOOKED_FOR_MS = 1_000;

/**
 * A monotonic clock that also advances while the machine is suspended. On Linux, `running` (CLOCK_MONOTONIC) stops then
 * and `sinceBoot` (CLOCK_BOOTTIME, from /proc/uptime) does not: the growing difference is the time suspended. Both in
 * milliseconds.
 */
export function suspendAwareClock(running: () => number, sinceBoot: () => number): () => number {
  let lookedAt = running();
  const ahead = sinceBoot() - lookedAt;
  let slept = 0;
  return () => {
    const now = running();
    if (now - lookedAt >= SLEEP_LOOKED_FOR_MS) {
      lookedAt = now;
      // A smaller difference is the resolution of one of the two clocks.
      const found = sinceBoot() - now - ahead;
      if (found - slept >= SLEEP_LOOKED_FOR_MS) slept = found;
    }
    return now + slept;
  };
}

const runs = () => performance.now();
const awake = process.platform === 'linux' ? suspendAwareClock(runs, () => uptime() * 1000) : runs;

/** The machine's clock: the only place in the program that reads the time or sets a timer. */
export const systemClock: Clock = {
  now: () => Date.now(),
  monotonic: awake,
  sleep: (ms, signal) =>
    new Promise((resolve) => {
      if (signal?.aborted) {
        resolve();
        return;
      }
      const wake = () => {
        clearTimeout(timer);
        signal?.removeEventListener('abort', wake);
        resolve();
      };
      const timer = setTimeout(wake, Math.min(Math.max(0, ms), MAX_TIMER_MS));
      signal?.addEventListener('abort', wake, { once: true });
    }),
};
