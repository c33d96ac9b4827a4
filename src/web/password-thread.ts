import { Worker } from 'node:worker_threads';
import type { Question, Verdict } from './password-worker.ts';

/** Tells whether a password is the one of a bcrypt hash. Rejects where it cannot be told. */
export type Compare = (password: string, hash: string) => Promise<boolean>;

/** As built: Node runs no other file in a thread. */
const FILE = new URL('./password-worker.js', import.meta.url);

/** bcrypt takes a few kilobytes; a thread with a heap like the process's own would be felt in a small container. */
const MEMORY = { maxOldGenerationSizeMb: 24, maxYoungGenerationSizeMb: 4 } as const;

/** Checks passwords on a thread of its own, which begins with the first of them and never holds up the process's end. */
export class PasswordThread {
  readonly #waiting = new Map<number, { resolve(matches: boolean): void; reject(error: Error): void }>();
  #worker: Worker | undefined;
  #asked = 0;

  readonly compare: Compare = (password, hash) => {
    this.#worker ??= this.#begin();
    this.#asked += 1;
    const question: Question = { id: this.#asked, password, hash };
    return new Promise((resolve, reject) => {
      this.#waiting.set(question.id, { resolve, reject });
      this.#worker?.postMessage(question);
    });
  };

  #begin(): Worker {
    // Not the environment: the thread has no use for what may be a secret.
    const worker = new Worker(FILE, { env: {}, resourceLimits: MEMORY });
    worker.unref();
    worker.on('message', ({ id, matches }: Verdict) => {
      this.#waiting.get(id)?.resolve(matches);
      this.#waiting.delete(id);
    });
    worker.on('error', (error) => this.#end(error));
    worker.on('exit', () => this.#end(new Error('the thread that checks passwords has ended')));
    return worker;
  }

  #end(error: Error): void {
    this.#worker = undefined;
    const waiting = [...this.#waiting.values()];
    this.#waiting.clear();
    for (const { reject } of waiting) reject(error);
  }
}
