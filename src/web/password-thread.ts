import { Worker } from 'node:worker_threads';
import type { CompareVerdict, PasswordQuestion } from './password-worker.ts';

/** Tells whether a password is the one of a bcrypt hash. Rejects where it cannot be told. */
export type Compare = (password: string, hash: string) => Promise<boolean>;

/** As built: Node runs no other file in a thread. */
const FILE = new URL('./password-worker.js', import.meta.url);

/** bcrypt takes a few kilobytes; a thread with a heap like the process's own would be felt in a small container. */
const MEMORY = { maxOldGenerationSizeMb: 24, maxYoungGenerationSizeMb: 4 } as const;

/** A thread that checks passwords. It does not get the environment: it has no use for what may be a secret. */
const passwordWorker = () => new Worker(FILE, { env: {}, resourceLimits: MEMORY });

/** Checks passwords on a thread of its own, which begins with the first of them and never holds up the process's end. */
export class PasswordThread {
  readonly #waiting = new Map<number, { resolve(matches: boolean): void; reject(error: Error): void }>();
  readonly #make: () => Worker;
  #worker: Worker | undefined;
  #asked = 0;

  /** `make`: gives the thread, and another one when that has ended. */
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
    worker.on('exit', () => this.#end(worker, new Error('the thread that checks passwords has ended')));
    return worker;
  }

  #end(worker: Worker, error: Error): void {
    // One that fails exits later, when another may be at work.
    if (worker !== this.#worker) return;
    this.#worker = undefined;
    const waiting = [...this.#waiting.values()];
    this.#waiting.clear();
    for (const { reject } of waiting) reject(error);
  }
}
