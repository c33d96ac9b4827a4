import type { Clock } from './clock.ts';

/** The longest time that work occupies one turn of the event loop, in milliseconds. */
export const SLICE_MS = 5;

/** How long work has occupied this turn of the event loop, in milliseconds. */
let occupiedMs = 0;

/** Functions that wake the work that waits for a turn, in the order in which it came. */
const waiting: (() => void)[] = [];

/**
 * Runs work that grows with the fleet, or with the number of responses that arrive at once, without delaying scrapes:
 * `work` yields wherever it may be interrupted. All work shares the 5 ms of a turn: ten calls occupy the event loop no
 * longer than one, and what begins in a turn that is used up waits for the next.
 */
export async function runInSlices<Result>(work: Generator<void, Result>, clock: Clock): Promise<Result> {
  if (occupiedMs >= SLICE_MS) await nextTurn();
  let startedAt = clock.monotonic();
  for (;;) {
    const step = work.next();
    startedAt = occupySince(startedAt, clock);
    if (step.done) return step.value;
    if (occupiedMs < SLICE_MS) continue;
    await nextTurn();
    startedAt = clock.monotonic();
  }
}

/** Runs short work in a turn that has room for it. Resolves with its result. */
export async function runInTurn<Result>(work: () => Result, clock: Clock): Promise<Awaited<Result>> {
  if (occupiedMs >= SLICE_MS) await nextTurn();
  const startedAt = clock.monotonic();
  const result = work();
  occupySince(startedAt, clock);
  return await result;
}

/** Yields the items one by one, and shares the 5 ms of a turn as `runInSlices` does. */
export async function* iterateInSlices<Item>(items: Iterable<Item>, clock: Clock): AsyncGenerator<Item> {
  let startedAt = clock.monotonic();
  for (const item of items) {
    yield item;
    startedAt = occupySince(startedAt, clock);
    if (occupiedMs < SLICE_MS) continue;
    await nextTurn();
    startedAt = clock.monotonic();
  }
}

/** Runs work without interruption: for tests, and for small amounts. */
export function runToEnd<Result>(work: Generator<void, Result>): Result {
  for (;;) {
    const step = work.next();
    if (step.done) return step.value;
  }
}

/** Counts the time since `startedAt` as occupied. Returns the time now. */
function occupySince(startedAt: number, clock: Clock): number {
  const now = clock.monotonic();
  if (occupiedMs === 0 && now > startedAt) setImmediate(beginTurn);
  occupiedMs += now - startedAt;
  return now;
}

function beginTurn(): void {
  occupiedMs = 0;
}

function nextTurn(): Promise<void> {
  return new Promise((resolve) => {
    waiting.push(resolve);
    if (waiting.length === 1) setImmediate(wakeNext);
  });
}

function wakeNext(): void {
  beginTurn();
  waiting.shift()?.();
  if (waiting.length > 0) setImmediate(wakeNext);
}
