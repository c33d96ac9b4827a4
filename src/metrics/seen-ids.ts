import { boundedId } from './label-value.ts';

/**
 * Remembers what was counted by its id, so that it counts once however often it is delivered. Its own time does not
 * matter, because the clock behind that time may be corrected.
 */
export class SeenIds {
  readonly #most: number;
  readonly #keepMs: number;
  /** The monotonic time of the response that delivered an id last; the oldest first. */
  readonly #delivered = new Map<string, number>();
  #added: string[] = [];
  /** The monotonic times of this response and of the one before. */
  #now = 0;
  #before = 0;

  /** `keepMs`: how long an id is remembered after its last delivery. */
  constructor(most: number, keepMs: number) {
    this.#most = most;
    this.#keepMs = keepMs;
  }

  /** Called at the beginning of a response; `now` in monotonic milliseconds. */
  begin(now: number): void {
    this.#before = this.#now;
    this.#now = now;
  }

  /** Records that this response delivers an id. `full`: it is new, and all that are remembered are of the last two responses. */
  deliver(given: string): 'known' | 'unknown' | 'full' {
    const id = boundedId(given);
    const isKnown = this.#delivered.delete(id);
    if (!isKnown && this.#delivered.size >= this.#most && !this.#evict()) return 'full';
    this.#delivered.set(id, this.#now);
    if (isKnown) return 'known';
    this.#added.push(id);
    // Without a state file nothing takes the added ids, so they are dropped here.
    if (this.#added.length > this.#most) this.#added = [];
    return 'unknown';
  }

  /** Called after a response that was read completely. */
  forget(): void {
    for (const [id, at] of this.#delivered) {
      if (this.#now - at <= this.#keepMs) return;
      this.#delivered.delete(id);
    }
  }

  all(): Iterable<string> {
    return this.#delivered.keys();
  }

  /** What was added since the last call. */
  takeAdded(): readonly string[] {
    const added = this.#added;
    this.#added = [];
    return added;
  }

  #evict(): boolean {
    for (const [id, at] of this.#delivered) return at < this.#before && this.#delivered.delete(id);
    return false;
  }
}
