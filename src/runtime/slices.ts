import { setImmediate } from 'node:timers/promises';
import type { Clock } from './clock.ts';

/** How long work may hold the event loop before others get a turn. */
const SLICE_MS = 8;

/**
 * Runs work that grows with the fleet without holding up scrapes: `work` is a generator that yields wherever it may be
 * interrupted, and after each 8 ms the event loop turns once. Returns what the generator returns; throws what it throws.
 */
export async function inSlices<Result>(work: Generator<void, Result>, clock: Clock): Promise<Result> {
  let started = clock.monotonic();
  for (;;) {
    const step = work.next();
    if (step.done) return step.value;
    if (clock.monotonic() - started >= SLICE_MS) {
      await setImmediate();
      started = clock.monotonic();
    }
  }
}

/** Runs the same work at once: for tests, and where there is little of it. */
export function atOnce<Result>(work: Generator<void, Result>): Result {
  for (;;) {
    const step = work.next();
    if (step.done) return step.value;
  }
}
