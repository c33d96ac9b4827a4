import { boundedId } from './label-value.ts';

/** Remembers what was counted by id and time, so that it counts once; limited in number. */
export class SeenIds {
  readonly #most: number;
  readonly #times = new Map<string, number>();
  #added: (readonly [id: string, at: number])[] = [];
  /** Unix seconds. */
  #forgottenBefore = Number.NEGATIVE_INFINITY;

  /** `most` is the largest number of ids. Above it the first ones are evicted, and count again if they arrive again. */
  constructor(most: number) {
    this.#most = most;
  }

  /**
   * Adds an id, and returns whether it is new. `at` is its own time in Unix seconds. An id that is older than the
   * forgotten ones is never new.
   */
  admit(given: string, at: number): boolean {
    const id = boundedId(given);
    if (at < this.#forgottenBefore || this.#times.has(id)) return false;
    this.#times.set(id, at);
    this.#added.push([id, at]);
    if (this.#times.size > this.#most) {
      const [first] = this.#times.keys();
      if (first !== undefined) this.#times.delete(first);
    }
    // Without a state file nothing takes the added ids, so they are dropped here.
    if (this.#added.length > this.#most) this.#added = [];
    return true;
  }

  /** Forgets everything older than a time in Unix seconds. */
  forgetBefore(time: number): void {
    this.#forgottenBefore = Math.max(this.#forgottenBefore, time);
    for (const [id, at] of this.#times) if (at < this.#forgottenBefore) this.#times.delete(id);
  }

  all(): Iterable<readonly [id: string, at: number]> {
    return this.#times;
  }

  /** What was added since the last call. */
  takeAdded(): readonly (readonly [id: string, at: number])[] {
    const added = this.#added;
    this.#added = [];
    return added;
  }
}
