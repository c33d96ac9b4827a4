import type { Clock } from './clock.ts';

/** How long a slice may hold the event loop. */
const SLICE_MS = 8;

/** Work that waits for its next slice. */
const waiting: (() => void)[] = [];

/**
 * Runs work that grows with the fleet without delaying scrapes: `work` yields wherever it may be interrupted, and every
 * 8 ms the event loop turns once. Concurrent calls share one slice a turn: ten together hold the loop no longer than one.
 */
export async function runInSlices<Result>(work: Generator<void, Result>, clock: Clock): Promise<Result> {
  let started = clock.monotonic();
  for (;;) {
    const step = work.next();
    if (step.done) return step.value;
    if (clock.monotonic() - started >= SLICE_MS) {
      await nextTurn();
      started = clock.monotonic();
    }
  }
}

/** Passes on items one by one; between two of them the event loop turns as in {@link runInSlices}. */
export async function* iterateInSlices<Item>(
  items: Iterable<Item>,
  clock: Clock,
  sliceMs = SLICE_MS,
): AsyncGenerator<Item> {
  let started = clock.monotonic();
  for (const item of items) {
    yield item;
    if (clock.monotonic() - started >= sliceMs) {
      await nextTurn();
      started = clock.monotonic();
    }
  }
}

/** Runs the same work at once: for tests, and for small amounts. */
export function runToEnd<Result>(work: Generator<void, Result>): Result {
  for (;;) {
    const step = work.next();
    if (step.done) return step.value;
  }
}

function nextTurn(): Promise<void> {
  return new Promise((resolve) => {
    waiting.push(resolve);
    if (waiting.length === 1) setImmediate(wakeOne);
  });
}

function wakeOne(): void {
  waiting.shift()?.();
  if (waiting.length > 0) setImmediate(wakeOne);
}
