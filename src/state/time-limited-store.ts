import type { Clock } from '../runtime/clock.ts';
import type { StateStore } from './store.ts';

/** The disk has not answered in time; the operation may still complete. */
export class LateError extends Error {
  override readonly name = 'LateError';
}

/**
 * A store with a time limit: a disk that hangs, such as one over the network, never answers. A late operation is an
 * error. While it is in progress no other starts, because a hanging call holds one of Node's few threads, and of two
 * writes the older could end last. For a single caller with one operation at a time.
 */
export class TimeLimitedStore implements StateStore {
  readonly #store: StateStore;
  readonly #clock: Clock;
  readonly #limitMs: number;
  /** The late operation in progress, in words. */
  #late: string | undefined;

  /** `limitMs`: the time limit of an operation. */
  constructor(store: StateStore, clock: Clock, limitMs: number) {
    this.#store = store;
    this.#clock = clock;
    this.#limitMs = limitMs;
  }

  read(): Promise<Buffer | undefined> {
    return this.#inTime('reading the state file', () => this.#store.read());
  }

  write(chunks: readonly Buffer[]): Promise<void> {
    return this.#inTime('writing the state file', () => this.#store.write(chunks));
  }

  setAside(word: string, moment: Date): Promise<string | undefined> {
    return this.#inTime('moving the state file aside', () => this.#store.setAside(word, moment));
  }

  async #inTime<Result>(what: string, call: () => Promise<Result>): Promise<Result> {
    if (this.#late !== undefined) throw new LateError(`${this.#late} is still in progress: the disk hangs`);
    const ended = new AbortController();
    const answer = call().finally(() => {
      this.#late = undefined;
      ended.abort();
    });
    const deadline = this.#clock.sleep(this.#limitMs, ended.signal).then(() => {
      if (ended.signal.aborted) return answer;
      this.#late = what;
      throw new LateError(`${what} took longer than ${this.#limitMs} ms: the disk hangs`);
    });
    return Promise.race([answer, deadline]);
  }
}
