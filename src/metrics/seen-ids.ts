/** Remembers what was counted by id and time, so that it counts once; limited in number. */
export class SeenIds {
  readonly #most: number;
  readonly #times = new Map<string, number>();
  /** Unix seconds. */
  #forgottenBefore = Number.NEGATIVE_INFINITY;

  /** `most`: above it the first ones are evicted, and would count again if they arrived again. */
  constructor(most: number) {
    this.#most = most;
  }

  /** Adds an id; true if it is new. `at`: its own time in Unix seconds; nothing older than what is forgotten is new. */
  admit(id: string, at: number): boolean {
    if (at < this.#forgottenBefore || this.#times.has(id)) return false;
    this.#times.set(id, at);
    if (this.#times.size > this.#most) {
      const [first] = this.#times.keys();
      if (first !== undefined) this.#times.delete(first);
    }
    return true;
  }

  /** Forgets everything older than a time in Unix seconds. */
  forgetBefore(time: number): void {
    this.#forgottenBefore = Math.max(this.#forgottenBefore, time);
    for (const [id, at] of this.#times) if (at < this.#forgottenBefore) this.#times.delete(id);
  }

  state(): readonly (readonly [id: string, at: number])[] {
    return [...this.#times];
  }

  restore(saved: ReturnType<SeenIds['state']>): void {
    for (const [id, at] of saved) this.admit(id, at);
  }
}
