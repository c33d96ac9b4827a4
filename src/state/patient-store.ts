import type { Clock } from '../runtime/clock.ts';
import type { StateStore } from './store.ts';

/** The disk has not answered in time; what it was asked for may still come to its end. */
export class LateError extends Error {
  override readonly name = 'LateError';
}

/**
 * A store that nobody waits for without end: a disk that hangs, as one over the network can, never answers. What is late
 * is an error. While it is still under way nothing else is begun, for a hanging call holds one of Node's few threads, and
 * of two writes the older one might end last. For one caller, who asks for one thing after the other.
 */
export class PatientStore implements StateStore {
  readonly #store: StateStore;
  readonly #clock: Clock;
  readonly #patienceMs: number;
  /** What is late and has not ended, in words. */
  #late: string | undefined;

  /** `patienceMs`: how long one call may take. */
  constructor(store: StateStore, clock: Clock, patienceMs: number) {
    this.#store = store;
    this.#clock = clock;
    this.#patienceMs = patienceMs;
  }

  read(): Promise<Buffer | undefined> {
    return this.#inTime('reading the state file', () => this.#store.read());
  }

  write(chunks: readonly Buffer[]): Promise<void> {
    return this.#inTime('writing the state file', () => this.#store.write(chunks));
  }

  setAside(word: string, moment: Date): Promise<string | undefined> {
    return this.#inTime('putting the state file aside', () => this.#store.setAside(word, moment));
  }

  async #inTime<Result>(what: string, call: () => Promise<Result>): Promise<Result> {
    if (this.#late !== undefined) throw new LateError(`${this.#late} has not ended yet: the disk hangs`);
    const ended = new AbortController();
    const answer = call().finally(() => {
      this.#late = undefined;
      ended.abort();
    });
    const deadline = this.#clock.sleep(this.#patienceMs, ended.signal).then(() => {
      if (ended.signal.aborted) return answer;
      this.#late = what;
      throw new LateError(`${what} did not end within ${this.#patienceMs} ms: the disk hangs`);
    });
    return Promise.race([answer, deadline]);
  }
}
