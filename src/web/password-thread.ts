import { Worker } from 'node:worker_threads';
import type { CompareVerdict, PasswordQuestion } from './password-worker.ts';

/** Compares a password with a bcrypt hash. Rejects if the comparison fails. */
export type Compare = (password: string, hash: string) => Promise<boolean>;

/** The compiled file: Node cannot run TypeScript in a thread. */
const FILE = new URL('./password-worker.js', import.meta.url);

/** bcrypt needs a few kilobytes; a heap of default size would be too large for a small container. */
const MEMORY = { maxOldGenerationSizeMb: 24, maxYoungGenerationSizeMb: 4 } as const;

/** A thread that checks passwords, without the environment, which may contain secrets. */
const passwordWorker = () => new Worker(FILE, { env: {}, resourceLimits: MEMORY });

/** Checks passwords in a separate thread, which starts with the first check and never delays the exit. */
export class PasswordThread {
  readonly #waiting = new Map<number, { resolve(matches: boolean): void; reject(error: Error): void }>();
  readonly #make: () => Worker;
  #worker: Worker | undefined;
  #asked = 0;

  /** `make`: starts the thread, and a new one after it has ended. */
  constructor(make: () => Worker = passwordWorker) {
    this.#make = make;
  }

  readonly compare: Compare = (password, hash) => {
    this.#worker ??= this.#begin();
    this.#asked += 1;
    const question: PasswordQuestion = { id: this.#asked, password, hash };
    return new Promise((resolve, reject) => {
      this.#waiting.set(question.id, { resolve, reject });
      this.#worker?.postMessage(question);
    });
  };

  #begin(): Worker {
    const worker = this.#make();
    worker.unref();
    worker.on('message', ({ id, matches }: CompareVerdict) => {
      this.#waiting.get(id)?.resolve(matches);
      this.#waiting.delete(id);
    });
    worker.on('error', (error) => this.#end(worker, error));
    worker.on('exit', () => this.#end(worker, new Error('the password thread has ended')));
    return worker;
  }

  #end(worker: Worker, error: Error): void {
    // A failed thread exits later, when its successor may be running.
    if (worker !== this.#worker) return;
    this.#worker = undefined;
    const waiting = [...this.#waiting.values()];
    this.#waiting.clear();
    for (const { reject } of waiting) reject(error);
  }
}
