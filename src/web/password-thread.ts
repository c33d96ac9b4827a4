import { Worker } from 'node:worker_threads';
import type { PasswordComparison } from './password-worker.ts';

/** Compares a password with a bcrypt hash. Rejects if the comparison fails. */
export type Compare = (password: string, hash: string) => Promise<boolean>;

/** The compiled file: Node cannot run TypeScript in a thread. */
const FILE = new URL('./password-worker.js', import.meta.url);

/** bcrypt needs a few kilobytes; a heap of default size would be too large for a small container. */
const MEMORY = { maxOldGenerationSizeMb: 24, maxYoungGenerationSizeMb: 4 } as const;

/** A thread that checks passwords, without the environment, which may contain secrets. */
const passwordWorker = () => new Worker(FILE, { env: {}, resourceLimits: MEMORY });

/** Checks passwords, one at a time. The thread starts with the first check and never delays the exit. */
export class PasswordThread {
  readonly #make: () => Worker;
  #worker: Worker | undefined;
  #settle: { resolve(matches: boolean): void; reject(error: Error): void } | undefined;

  constructor(make: () => Worker = passwordWorker) {
    this.#make = make;
  }

  /** A caller must wait for the end of one comparison before it begins the next one. */
  readonly compare: Compare = async (password, hash) => {
    this.#worker ??= this.#begin();
    const comparison: PasswordComparison = { password, hash };
    this.#worker.postMessage(comparison);
    return new Promise((resolve, reject) => {
      this.#settle = { resolve, reject };
    });
  };

  #begin(): Worker {
    const worker = this.#make();
    const end = (error: Error) => {
      // A failed thread exits later, when its successor may be running.
      if (worker !== this.#worker) return;
      this.#worker = undefined;
      this.#settle?.reject(error);
    };
    worker.unref();
    worker.on('message', (matches: boolean) => this.#settle?.resolve(matches));
    worker.on('error', end);
    worker.on('exit', () => end(new Error('the password thread has ended')));
    return worker;
  }
}
