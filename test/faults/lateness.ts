/** How often this process looks at the clock, in milliseconds. */
const TICK_MS = 20;

/** Less than this is no lateness: timers are as exact as that. */
const EXACT_MS = 4;

/**
 * How late the machine is: by how much a timer of this process came after its time. A busy machine makes the program as
 * late as that, or all that stands between it and its services, which is no fault of the program.
 */
export class Lateness {
  readonly #turns: { readonly from: number; readonly to: number; readonly lateMs: number }[] = [];
  readonly #timer: NodeJS.Timeout;

  constructor() {
    let before = performance.now();
    this.#timer = setInterval(() => {
      const now = performance.now();
      const lateMs = now - before - TICK_MS;
      if (lateMs > EXACT_MS) this.#turns.push({ from: before, to: now, lateMs });
      before = now;
    }, TICK_MS);
    this.#timer.unref();
  }

  /** How late it was between two moments of `performance.now()`, in all, in milliseconds. */
  between(from: number, to: number): number {
    const touched = this.#turns.filter((turn) => turn.to > from && turn.from < to);
    return touched.reduce((sum, { lateMs }) => sum + lateMs, 0);
  }

  /** The longest that it was ever late at once, in milliseconds. */
  get longestMs(): number {
    return this.#turns.reduce((most, { lateMs }) => Math.max(most, lateMs), 0);
  }

  stop(): void {
    clearInterval(this.#timer);
  }
}
