import type { Clock } from './clock.ts';

/** The longest time that slices occupy one turn of the event loop, in milliseconds. */
export const SLICE_MS = 5;

/** Less than this is not counted as occupied, in milliseconds: most calls have little to do. */
const COUNTED_MS = 1;

/** How long slices have occupied this turn of the event loop, in milliseconds. */
let occupiedMs = 0;

/** Wakes the work that waits for its next slice. */
const waiting: (() => void)[] = [];

/**
 * Runs work that grows with the fleet without delaying scrapes: `work` yields wherever it may be interrupted, and every
 * 5 ms the event loop gets a turn. Concurrent calls share these: ten of them occupy the event loop no longer than one.
 */
export async function runInSlices<Result>(work: Generator<void, Result>, clock: Clock): Promise<Result> {
  let startedAt = clock.monotonic();
  for (;;) {
    const step = work.next();
    const elapsedMs = clock.monotonic() - startedAt;
    if (step.done) {
      occupy(elapsedMs);
      return step.value;
    }
    if (occupiedMs + elapsedMs < SLICE_MS) continue;
    occupy(elapsedMs);
    await nextTurn();
    startedAt = clock.monotonic();
  }
}

/** Yields the items one by one; between two items the event loop gets a turn every 5 ms. */
export async function* iterateInSlices<Item>(items: Iterable<Item>, clock: Clock): AsyncGenerator<Item> {
  let startedAt = clock.monotonic();
  for (const item of items) {
    yield item;
    if (clock.monotonic() - startedAt >= SLICE_MS) {
      await nextTurn();
      startedAt = clock.monotonic();
    }
  }
}

/** Runs work without interruption: for tests, and for small amounts. */
export function runToEnd<Result>(work: Generator<void, Result>): Result {
  for (;;) {
    const step = work.next();
    if (step.done) return step.value;
  }
}

function occupy(ms: number): void {
  if (ms < COUNTED_MS) return;
  if (occupiedMs === 0)
    setImmediate(() => {
      occupiedMs = 0;
    });
  occupiedMs += ms;
}

function nextTurn(): Promise<void> {
  return new Promise((resolve) => {
    waiting.push(resolve);
    if (waiting.length === 1) setImmediate(wakeNext);
  });
}

function wakeNext(): void {
  // A turn has begun, which the callback of `occupy` may not have noticed yet.
  occupiedMs = 0;
  waiting.shift()?.();
  if (waiting.length > 0) setImmediate(wakeNext);
}
