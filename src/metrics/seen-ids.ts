import { keptList, keptNumber, keptText } from './restored-values.ts';

/** Remembers what was counted already, by id and time, so that it counts once; bounded in number. */
export class Seen {
  readonly #most: number;
  readonly #times = new Map<string, number>();

  /** `most`: beyond it the first ones are forgotten, and would count again if they came again. */
  constructor(most: number) {
    this.#most = most;
  }

  /** How many are remembered. */
  get size(): number {
    return this.#times.size;
  }

  /** True when it was not there yet; it is from now on. `at`: its own time in Unix seconds. */
  admit(id: string, at: number): boolean {
    if (this.#times.has(id)) return false;
    this.#times.set(id, at);
    if (this.#times.size > this.#most) {
      const [first] = this.#times.keys();
      if (first !== undefined) this.#times.delete(first);
    }
    return true;
  }

  /** Forgets what is older than a time in Unix seconds: it cannot come again. */
  forgetBefore(time: number): void {
    for (const [id, at] of this.#times) if (at < time) this.#times.delete(id);
  }

  /** What {@link Seen.restore} takes. */
  state(): SeenState {
    return [...this.#times];
  }

  /** Remembers these as well. */
  restore(saved: SeenState): void {
    for (const [id, at] of saved) this.admit(id, at);
  }
}

/** What was counted, as kept over restarts. */
export type SeenState = readonly (readonly [id: string, at: number])[];

/** What comes back of what was counted, checked. Throws a TypeError where it is something else. */
export function keptSeen(saved: unknown): SeenState {
  return keptList(saved).map((one) => {
    const [id, at] = keptList(one);
    return [keptText(id), keptNumber(at)];
  });
}
