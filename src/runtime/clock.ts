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

/** The machine's clock: the only place in the program that reads the time or sets a timer. */
export const systemClock: Clock = {
  now: () => Date.now(),
  monotonic: () => performance.now(),
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
