import { keptList, keptNumber, keptText } from './restored-values.ts';

/** Remembers what was counted by id and time, so that it counts once; limited in number. */
export class Seen {
  readonly #most: number;
  readonly #times = new Map<string, number>();

  /** `most`: above it the first ones are evicted, and would count again if they arrived again. */
  constructor(most: number) {
    this.#most = most;
  }

  get size(): number {
    return this.#times.size;
  }

  /** Adds an id; true if it is new. `at`: its own time in Unix seconds. */
  admit(id: string, at: number): boolean {
    if (this.#times.has(id)) return false;
    this.#times.set(id, at);
    if (this.#times.size > this.#most) {
      const [first] = this.#times.keys();
      if (first !== undefined) this.#times.delete(first);
    }
    return true;
  }

  /** Forgets everything older than a time in Unix seconds: it cannot arrive again. */
  forgetBefore(time: number): void {
    for (const [id, at] of this.#times) if (at < time) this.#times.delete(id);
  }

  state(): SeenState {
    return [...this.#times];
  }

  /** Adds these. */
  restore(saved: SeenState): void {
    for (const [id, at] of saved) this.admit(id, at);
  }
}

/** What was counted, as saved in the state file. */
export type SeenState = readonly (readonly [id: string, at: number])[];

/** Checks a saved state. Throws a TypeError if it is not one. */
export function keptSeen(saved: unknown): SeenState {
  return keptList(saved).map((one) => {
    const [id, at] = keptList(one);
    return [keptText(id), keptNumber(at)];
  });
}
