import { setTimeout as sleep } from 'node:timers/promises';

/** How long to wait before a look that follows another, in milliseconds. */
const PAUSE_MS = 20;

/**
 * Looks until there is something to see, and gives it: anything but undefined and false. A look that throws has seen
 * nothing yet. Rejects after `withinMs`, in real time, with what it was waiting for and why the last look saw nothing.
 */
export async function until<Seen>(
  what: string,
  look: () => Seen | Promise<Seen>,
  withinMs = 100_000,
): Promise<Exclude<Seen, undefined | false>> {
  const deadline = performance.now() + withinMs;
  for (;;) {
    let cause: unknown;
    try {
      const seen = await look();
      if (seen !== undefined && seen !== false) return seen as Exclude<Seen, undefined | false>;
    } catch (thrown) {
      cause = thrown;
    }
    if (performance.now() > deadline) {
      const reason = cause === undefined ? '' : `; ${String(cause)}`;
      throw new Error(`waited ${withinMs} ms for ${what}${reason}`, { cause });
    }
    await sleep(PAUSE_MS);
  }
}
