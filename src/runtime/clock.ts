import { uptime } from 'node:os';
import { performance } from 'node:perf_hooks';

/** Time as an argument: what the program asks of it, and nothing more. */
export interface Clock {
  /** Milliseconds since the Unix epoch; steps when the operator or NTP steps the system clock. */
  now(): number;
  /** Milliseconds since some fixed moment; never goes backwards, so durations and deadlines are measured with it. */
  monotonic(): number;
  /** Resolves after `ms`, or as soon as `signal` aborts: waking early is not an error. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>;
}

/** The longest delay that Node's timers take; a longer one would fire at once. */
const LONGEST_TIMER_MS = 2_147_483_647;

/** How often it is looked whether the machine has slept, in milliseconds. */
const SLEEP_LOOKED_FOR_MS = 1_000;

/**
 * A monotonic clock that goes on while the machine sleeps. Of Linux `running` (CLOCK_MONOTONIC) stands still then, and
 * `sinceBoot` (CLOCK_BOOTTIME, as /proc/uptime tells it) does not: what it is ahead by has been slept. Both in milliseconds.
 */
export function clockThroughSleep(running: () => number, sinceBoot: () => number): () => number {
  let lookedAt = running();
  const ahead = sinceBoot() - lookedAt;
  let slept = 0;
  return () => {
    const now = running();
    if (now - lookedAt >= SLEEP_LOOKED_FOR_MS) {
      lookedAt = now;
      // Less is the coarseness of one of them.
      const found = sinceBoot() - now - ahead;
      if (found - slept >= SLEEP_LOOKED_FOR_MS) slept = found;
    }
    return now + slept;
  };
}

const runs = () => performance.now();
const awake = process.platform === 'linux' ? clockThroughSleep(runs, () => uptime() * 1000) : runs;

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
      const timer = setTimeout(wake, Math.min(Math.max(0, ms), LONGEST_TIMER_MS));
      signal?.addEventListener('abort', wake, { once: true });
    }),
};
