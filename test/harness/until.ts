import { setTimeout as sleep } from 'node:timers/promises';

/** How long to wait before a look that follows another, in milliseconds: a tenth of the time so far, between these. */
const PAUSE_MS = { least: 20, most: 250 } as const;

/**
 * Looks until there is something to see, and gives it: anything but undefined and false. A look that throws has seen
 * nothing yet. Rejects after `withinMs`, in real time, with what it was waiting for and why the last look saw nothing.
 */
export async function until<Seen>(
  what: string,
  look: () => Seen | Promise<Seen>,
  withinMs = 100_000,
): Promise<Exclude<Seen, undefined | false>> {
  const begun = performance.now();
  for (;;) {
    let cause: unknown;
    try {
      const seen = await look();
      if (seen !== undefined && seen !== false) return seen as Exclude<Seen, undefined | false>;
    } catch (thrown) {
      cause = thrown;
    }
    const passedMs = performance.now() - begun;
    if (passedMs > withinMs) {
      const reason = cause === undefined ? '' : `; ${String(cause)}`;
      throw new Error(`waited ${withinMs} ms for ${what}${reason}`, { cause });
    }
    await sleep(Math.min(Math.max(passedMs / 10, PAUSE_MS.least), PAUSE_MS.most));
  }
}
