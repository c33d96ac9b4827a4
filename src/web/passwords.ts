import { createHmac } from 'node:crypto';
import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import pLimit from 'p-limit';
import type { PasswordComparison } from './password-worker.ts';

/** Compares a password with a bcrypt hash. */
export type Compare = (comparison: PasswordComparison) => Promise<boolean>;

/** `busy` if the password was not checked, because too many others from this address wait. */
type PasswordResult = 'right' | 'wrong' | 'busy';

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
  /** What is being checked, or waits for it. */
  readonly #waiting = new Set<Credentials>();
  /** A digest of the right password of each user. */
  readonly #right = new Map<string, string>();

  /** `key` is random and exists only in this process, so that the digests are useless outside it. */
  constructor(compare: Compare, key: Buffer) {
    this.#compare = compare;
    this.#key = key;
  }

  /** `hashes` has the hash of each user. Rejects if the comparison fails. */
  async check(hashes: ReadonlyMap<string, string>, credentials: Credentials): Promise<PasswordResult> {
    const { user, password, address } = credentials;
    const hash = hashes.get(user);
    // The hash is part of the digest, so that a password counts no more when its hash is replaced or its user is removed.
    const digest = createHmac('sha256', this.#key)
      .update(JSON.stringify([hash, password]))
      .digest('hex');
    if (this.#right.get(user) === digest) return 'right';
    const ofAddress = [...this.#waiting].filter((waiting) => waiting.address === address);
    if (ofAddress.length >= MAX_WAITING) return 'busy';
    this.#waiting.add(credentials);
    try {
      return await this.#oneAtATime(async () => {
        // Another connection of the same scraper may have been checked in the meantime.
        if (this.#right.get(user) === digest) return 'right';
        // An unknown user costs a comparison too: a quick response would show that the user is unknown.
        const [anyHash = ''] = hashes.values();
        const isEqual = await this.#compare({ password, hash: hash ?? anyHash });
        if (!isEqual || hash === undefined) return 'wrong';
        this.#right.set(user, digest);
        return 'right';
      });
    } finally {
      this.#waiting.delete(credentials);
    }
  }
}

/** The compiled file: Node.js 20 cannot run TypeScript in a thread. */
const WORKER_FILE = new URL('./password-worker.js', import.meta.url);

/** bcrypt needs a few kilobytes; a heap of the default size would be too large for a small container. */
const WORKER_MEMORY = { maxOldGenerationSizeMb: 24, maxYoungGenerationSizeMb: 4 } as const;

/**
 * Compares in a thread of its own, because bcrypt would hold the event loop for 100 ms at a time. The thread has no
 * environment, which may contain secrets, and does not delay the exit.
 */
export async function compareInThread(comparison: PasswordComparison): Promise<boolean> {
  const thread = new Worker(WORKER_FILE, { env: {}, workerData: comparison, resourceLimits: WORKER_MEMORY });
  thread.unref();
  const [isEqual] = await once(thread, 'message');
  return isEqual;
}
