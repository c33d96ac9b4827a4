import { createHmac } from 'node:crypto';
import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import pLimit from 'p-limit';
import type { PasswordComparison } from './password-worker.ts';

/** Compares a password with a bcrypt hash. */
export type Compare = (password: string, hash: string) => Promise<boolean>;

/** `busy` if the password was not checked, because too many others from this address wait. */
export type PasswordResult = 'right' | 'wrong' | 'busy';

/** What a client sends, and the address that it sends it from. */
export interface Credentials {
  readonly user: string;
  readonly password: string;
  readonly address: string;
}

/** The checks of one address that may wait or run: so many guesses may delay a new scraper. */
const MAX_WAITING = 4;

/**
 * Checks passwords against bcrypt hashes, one at a time. The right password of each user is remembered, so that a scraper
 * waits only for its first check.
 */
export class PasswordChecker {
  readonly #compare: Compare;
  readonly #key: Buffer;
  readonly #oneAtATime = pLimit(1);
  /** The checks that wait or run, by address. */
  readonly #waiting = new Map<string, number>();
  /** A digest of the right password of each user. */
  readonly #right = new Map<string, string>();

  /** `key` is random and exists only in this process, so that the digests are useless outside it. */
  constructor(compare: Compare, key: Buffer) {
    this.#compare = compare;
    this.#key = key;
  }

  /** `hashes` has the hash of each user. Rejects if the comparison fails. */
  async check(hashes: ReadonlyMap<string, string>, { user, password, address }: Credentials): Promise<PasswordResult> {
    const hash = hashes.get(user);
    // The hash is part of the digest, so that a password is forgotten when its hash is replaced or its user is removed.
    const digest = createHmac('sha256', this.#key)
      .update(JSON.stringify([hash, password]))
      .digest('hex');
    if (this.#right.get(user) === digest) return 'right';
    const waiting = this.#waiting.get(address) ?? 0;
    if (waiting >= MAX_WAITING) return 'busy';
    this.#waiting.set(address, waiting + 1);
    try {
      return await this.#oneAtATime(async () => {
        // Another connection of the same scraper may have been checked in the meantime.
        if (this.#right.get(user) === digest) return 'right';
        // An unknown user costs a comparison too: a quick response would show that the user is unknown.
        const [anyHash = ''] = hashes.values();
        const isEqual = await this.#compare(password, hash ?? anyHash);
        if (!isEqual || hash === undefined) return 'wrong';
        this.#right.set(user, digest);
        return 'right';
      });
    } finally {
      const left = (this.#waiting.get(address) ?? 1) - 1;
      if (left === 0) this.#waiting.delete(address);
      else this.#waiting.set(address, left);
    }
  }

  /** Forgets the passwords of users that are not listed. */
  keepOnly(users: ReadonlyMap<string, unknown>): void {
    for (const user of this.#right.keys()) if (!users.has(user)) this.#right.delete(user);
  }
}

/** The compiled file: Node.js 20 cannot run TypeScript in a thread. */
const WORKER_FILE = new URL('./password-worker.js', import.meta.url);

/** bcrypt needs a few kilobytes; a heap of the default size would be too large for a small container. */
const WORKER_MEMORY = { maxOldGenerationSizeMb: 24, maxYoungGenerationSizeMb: 4 } as const;

/**
 * Returns a comparison that runs in a thread, because bcrypt would block the event loop. The thread starts with the first
 * comparison, has no environment, which may contain secrets, and never delays the exit. A comparison may begin only after the
 * previous one has ended.
 */
export function compareInThread(): Compare {
  let thread: Worker | undefined;
  const start = (): Worker => {
    const started = new Worker(WORKER_FILE, { env: {}, resourceLimits: WORKER_MEMORY });
    started.unref();
    // The end follows an error. Without a listener an error between two comparisons would end the process.
    started.on('error', () => {});
    started.once('exit', () => {
      if (thread === started) thread = undefined;
    });
    return started;
  };
  return async (password, hash) => {
    thread ??= start();
    const comparison: PasswordComparison = { password, hash };
    thread.postMessage(comparison);
    const ended = new AbortController();
    const { signal } = ended;
    const exit = once(thread, 'exit', { signal }).then(() => {
      throw new Error('the thread that checks passwords has ended');
    });
    try {
      const [isEqual] = await Promise.race([once(thread, 'message', { signal }), exit]);
      return isEqual === true;
    } finally {
      ended.abort();
    }
  };
}
