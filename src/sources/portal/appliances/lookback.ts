/** The shortest period that the portal accepts, in milliseconds (upstream-api.md 4.1). */
export const SHORTEST_PERIOD_MS = 360_000;

/**
 * The period of a series request: halved after an answer that is too large or too slow (408, 413), and extended again
 * after successes.
 */
export class Lookback {
  readonly #usualMs: number;
  readonly #shortened = new Map<string, number>();

  constructor(usualMs: number) {
    this.#usualMs = usualMs;
  }

  of(task: string): number {
    return this.#shortened.get(task) ?? this.#usualMs;
  }

  /** Halves it, or `now` if that is shorter; false if it is already the shortest. */
  shorten(task: string, now = this.of(task)): boolean {
    if (now <= SHORTEST_PERIOD_MS) return false;
    this.#shortened.set(task, Math.max(SHORTEST_PERIOD_MS, now / 2));
    return true;
  }

  /** After a success: the next request may cover twice as much, up to the configured period. */
  recover(task: string): void {
    const now = this.#shortened.get(task);
    if (now === undefined) return;
    if (now * 2 >= this.#usualMs) this.#shortened.delete(task);
    else this.#shortened.set(task, now * 2);
  }
}

/** An ISO 8601 duration ending now, as `PT15M`. */
export function isoPeriod(ms: number): string {
  const seconds = Math.ceil(ms / 1000);
  return seconds % 60 === 0 ? `PT${seconds / 60}M` : `PT${seconds}S`;
}
