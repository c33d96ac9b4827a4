/** What is older cannot be exposed by any reckoning, in milliseconds. */
const KEPT_MS = 43_200_000;

/** When each value was last told by a good answer; monotonic milliseconds. */
export class Moments {
  readonly #told = new Map<number | string, number>();

  /** A good answer tells it. */
  tell(value: number | string, now: number): void {
    // At the end again: the oldest ones are in front.
    this.#told.delete(value);
    this.#told.set(value, now);
    for (const [old, at] of this.#told) {
      if (now - at < KEPT_MS) break;
      this.#told.delete(old);
    }
  }

  /** How long ago it was last told, in milliseconds; infinite when it never was. */
  age(value: number | string, now: number): number {
    return now - (this.#told.get(value) ?? Number.NEGATIVE_INFINITY);
  }

  /** All of it counts as younger by so much. */
  rejuvenate(ms: number): void {
    for (const [value, at] of this.#told) this.#told.set(value, at + ms);
  }
}
