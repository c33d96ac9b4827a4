/** The shortest period that the portal takes, in milliseconds (upstream-api.md 4.1). */
export const SHORTEST_PERIOD_MS = 360_000;

/** The period a series is asked for: halved when an answer is too large or too slow (408, 413), and won back after. */
export class Lookback {
  readonly #usualMs: number;
  readonly #shortened = new Map<string, number>();

  constructor(usualMs: number) {
    this.#usualMs = usualMs;
  }

  /** The period for a task now, in milliseconds. */
  of(task: string): number {
    return this.#shortened.get(task) ?? this.#usualMs;
  }

  /** Halves it, or what was asked for where that was less; false when it is as short as it can be. */
  shorten(task: string, now = this.of(task)): boolean {
    if (now <= SHORTEST_PERIOD_MS) return false;
    this.#shortened.set(task, Math.max(SHORTEST_PERIOD_MS, now / 2));
    return true;
  }

  /** A poll succeeded: the next one may ask for twice as much, up to the usual. */
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
