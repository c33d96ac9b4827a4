import type { Clock } from './clock.ts';

/** The longest time that work occupies one turn of the event loop, in milliseconds. */
export const SLICE_MS = 3;

/** How long work has occupied this turn of the event loop, in milliseconds. */
let occupiedMs = 0;

let isNextTurnScheduled = false;

/** Functions that wake the work that waits for a turn, in the order in which it came. */
const waiting: (() => void)[] = [];

/**
 * Runs work that grows with the fleet, or with the number of responses that arrive at once, without delaying scrapes:
 * `work` yields wherever it may be interrupted. All work shares the 3 ms of a turn: ten calls occupy the event loop no
 * longer than one, and what begins in a turn that is used up waits for the next.
 */
export async function runInSlices<Result>(work: Iterator<void, Result>, clock: Clock): Promise<Result> {
  if (isTurnUsedUp() || waiting.length > 0) await nextTurn();
  let startedAt = clock.monotonic();
  try {
    for (;;) {
      const step = work.next();
      if (step.done) return step.value;
      startedAt = occupySince(startedAt, clock);
      if (!isTurnUsedUp()) continue;
      await nextTurn();
      startedAt = clock.monotonic();
    }
  } finally {
    occupySince(startedAt, clock);
    wakeNext();
  }
}

/** Runs short work in a turn that has room for it. Resolves with its result. */
export async function runInTurn<Result>(work: () => Result, clock: Clock): Promise<Awaited<Result>> {
  return await runInSlices({ next: () => ({ done: true, value: work() }) }, clock);
}

/** Yields the items one by one, and shares the 3 ms of a turn as `runInSlices` does. */
export async function* iterateInSlices<Item>(items: Iterable<Item>, clock: Clock): AsyncGenerator<Item> {
  let startedAt = clock.monotonic();
  try {
    for (const item of items) {
      yield item;
      startedAt = occupySince(startedAt, clock);
      if (!isTurnUsedUp()) continue;
      await nextTurn();
      startedAt = clock.monotonic();
    }
  } finally {
    wakeNext();
  }
}

/** Runs work without interruption: for tests, and for small amounts. */
export function runToEnd<Result>(work: Generator<void, Result>): Result {
  for (;;) {
    const step = work.next();
    if (step.done) return step.value;
  }
}

function isTurnUsedUp(): boolean {
  return occupiedMs >= SLICE_MS;
}

/** Counts the time since `startedAt` as occupied. Returns the time now. */
function occupySince(startedAt: number, clock: Clock): number {
  const now = clock.monotonic();
  if (now > startedAt) scheduleNextTurn();
  occupiedMs += now - startedAt;
  return now;
}

function nextTurn(): Promise<void> {
  return new Promise((resolve) => {
    waiting.push(resolve);
    scheduleNextTurn();
  });
}

function scheduleNextTurn(): void {
  if (isNextTurnScheduled) return;
  isNextTurnScheduled = true;
  setImmediate(() => {
    isNextTurnScheduled = false;
    occupiedMs = 0;
    wakeNext();
    if (waiting.length > 0) scheduleNextTurn();
  });
}

/** Work that is done leaves the rest of the turn to the next that waits. */
function wakeNext(): void {
  if (!isTurnUsedUp()) waiting.shift()?.();
}
