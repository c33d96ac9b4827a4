import type { Clock } from './clock.ts';

/** The longest time that a slice occupies the event loop, in milliseconds. */
const SLICE_MS = 8;

/** Wakes the work that waits for its next slice. */
const waiting: (() => void)[] = [];

/**
 * Runs work that grows with the fleet without delaying scrapes: `work` yields wherever it may be interrupted, and every
 * 8 ms the event loop gets a turn. In each turn only one of the concurrent calls runs a slice, so ten calls occupy the
 * event loop no longer than one.
 */
export async function runInSlices<Result>(work: Generator<void, Result>, clock: Clock): Promise<Result> {
  let startedAt = clock.monotonic();
  for (;;) {
    const step = work.next();
    if (step.done) return step.value;
    if (clock.monotonic() - startedAt >= SLICE_MS) {
      await nextTurn();
      startedAt = clock.monotonic();
    }
  }
}

/** Yields the items one by one; between two items the event loop gets a turn as in {@link runInSlices}. */
export async function* iterateInSlices<Item>(
  items: Iterable<Item>,
  clock: Clock,
  sliceMs = SLICE_MS,
): AsyncGenerator<Item> {
  let startedAt = clock.monotonic();
  for (const item of items) {
    yield item;
    if (clock.monotonic() - startedAt >= sliceMs) {
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

function nextTurn(): Promise<void> {
  return new Promise((resolve) => {
    waiting.push(resolve);
    if (waiting.length === 1) setImmediate(wakeNext);
  });
}

function wakeNext(): void {
  waiting.shift()?.();
  if (waiting.length > 0) setImmediate(wakeNext);
}
