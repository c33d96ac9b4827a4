import { performance } from 'node:perf_hooks';
import { setTimeout } from 'node:timers/promises';

export interface Clock {
  /** Milliseconds since the Unix epoch; they jump when the operator or NTP sets the system clock. */
  now(): number;
  /** Milliseconds since some fixed moment. They never go backwards, so durations and deadlines are measured with them. */
  monotonic(): number;
  /** Resolves after `ms`, or as soon as `signal` aborts: waking early is not an error. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>;
}

/** Calls `onTimeout` after `ms`, unless the returned function is called before. */
export function callAfter(clock: Clock, ms: number, onTimeout: () => void): () => void {
  const ended = new AbortController();
  void clock.sleep(ms, ended.signal).then(() => {
    if (!ended.signal.aborted) onTimeout();
  });
  // Without a reason, Node would create another error with its stack for every request.
  return () => ended.abort('ended');
}

/** Settles as `work` does, or rejects with `timeoutError()` after `ms`; the later result of `work` is ignored. */
export function withTimeout<Result>(
  work: Promise<Result>,
  clock: Clock,
  ms: number,
  timeoutError: () => Error,
): Promise<Result> {
  return new Promise((resolve, reject) => {
    const end = callAfter(clock, ms, () => reject(timeoutError()));
    work.then(resolve, reject).finally(end);
  });
}

/** Lets scrapes and responses in, in the middle of work that would occupy the event loop for more than some 20 ms. */
export function nextTurn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

/** The longest delay that Node's timers accept; a longer one would fire at once. */
const MAX_TIMER_MS = 2_147_483_647;

/** The machine's clock: the only place in the program that reads the time or sets a timer. */
export const systemClock: Clock = {
  now: () => Date.now(),
  monotonic: () => performance.now(),
  sleep: (ms, signal) =>
    // An abort rejects the timer, which only means that the sleep ends early.
    setTimeout(Math.min(Math.max(0, ms), MAX_TIMER_MS), undefined, { signal }).catch(() => {}),
};
