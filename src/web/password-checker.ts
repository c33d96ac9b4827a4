import { createHmac } from 'node:crypto';
import type { Clock } from '../runtime/clock.ts';
import type { Compare } from './password-thread.ts';

/** `busy` if the password was not checked, because others are being checked. */
export type PasswordResult = 'right' | 'wrong' | 'busy';

/** The checks that may wait for the one in progress. */
const MAX_WAITING = 8;

/** The attempts of each address are counted anew after this time, in milliseconds. */
const COUNTED_MS = 60_000;

/** The attempts are also counted anew when they come from more addresses than this. */
const MAX_ADDRESSES = 10_000;

/** How many attempts a wrong password counts as: a scraper that tries again then goes before every client that guessed. */
const ATTEMPTS_IF_WRONG = 1000;

/** What a client sends, and the address that it sends it from. */
export interface PasswordCheck {
  readonly user: string;
  readonly password: string;
  readonly address: string;
}

interface WaitingCheck {
  readonly attempts: number;
  /** True begins the check; false ends it. */
  readonly proceed: (begins: boolean) => void;
}

/**
 * Checks passwords against bcrypt hashes, one at a time. The right password of each user is remembered, so that a scraper
 * waits only for its first check. A client that guesses tries often, and a scraper does not. Therefore the waiting check
 * whose address has tried least is next, and if too many wait, the one whose address has tried most is rejected. Of equal
 * ones the latest is next: if the earliest were next, the first guesses from many addresses would keep every later
 * scraper out.
 */
export class PasswordChecker {
  readonly #compare: Compare;
  readonly #key: Buffer;
  readonly #clock: Clock;
  /** A digest of the right password of each user, with the hash. */
  readonly #right = new Map<string, string>();
  /** How often each address has tried since `#countedSince`; a remembered password is no attempt. */
  readonly #attempts = new Map<string, number>();
  #countedSince: number;
  /** The checks that wait or are in progress, by their digest: clients with one password share its check. */
  readonly #results = new Map<string, Promise<PasswordResult>>();
  #isChecking = false;
  /** The checks that wait: those of the address with the fewest attempts first, of equal ones the latest. */
  readonly #waiting: WaitingCheck[] = [];

  /** `key` is random and exists only in this process, so that the digests are useless outside it. */
  constructor(compare: Compare, key: Buffer, clock: Clock) {
    this.#compare = compare;
    this.#key = key;
    this.#clock = clock;
    this.#countedSince = clock.monotonic();
  }

  /**
   * `hashes` has the hash of each user. A check that waits is done even if its client disconnects. Rejects if the
   * thread fails.
   */
  async check(hashes: ReadonlyMap<string, string>, check: PasswordCheck): Promise<PasswordResult> {
    const { user, password } = check;
    // The user is part of the digest, because otherwise checks of unknown users would be shared and those of known ones
    // would not, which a client could see.
    const text = JSON.stringify([user, hashes.get(user), password]);
    const digest = createHmac('sha256', this.#key).update(text).digest('hex');
    if (this.#right.get(user) === digest) return 'right';
    const existing = this.#results.get(digest);
    if (existing !== undefined) return existing;
    const result = this.#compareInTurn(hashes, check).finally(() => this.#results.delete(digest));
    this.#results.set(digest, result);
    if ((await result) === 'right') this.#right.set(user, digest);
    return result;
  }

  async #compareInTurn(
    hashes: ReadonlyMap<string, string>,
    { user, password, address }: PasswordCheck,
  ): Promise<PasswordResult> {
    if (!(await this.#waitForOthers(this.#countAttempts(address, 1)))) return 'busy';
    const hash = hashes.get(user);
    try {
      const matches = await this.#compare(password, hash ?? nobodysHash(hashes));
      if (matches && hash !== undefined) return 'right';
      this.#countAttempts(address, ATTEMPTS_IF_WRONG);
      return 'wrong';
    } finally {
      const next = this.#waiting.shift();
      if (next === undefined) this.#isChecking = false;
      else next.proceed(true);
    }
  }

  #countAttempts(address: string, attempts: number): number {
    const now = this.#clock.monotonic();
    if (now - this.#countedSince >= COUNTED_MS || this.#attempts.size >= MAX_ADDRESSES) {
      this.#attempts.clear();
      this.#countedSince = now;
    }
    const count = (this.#attempts.get(address) ?? 0) + attempts;
    this.#attempts.set(address, count);
    return count;
  }

  /** Resolves with true when the check can begin, or with false if too many others wait whose addresses have tried less. */
  #waitForOthers(attempts: number): Promise<boolean> | boolean {
    if (!this.#isChecking) {
      this.#isChecking = true;
      return true;
    }
    return new Promise((proceed) => {
      this.#waiting.unshift({ attempts, proceed });
      this.#waiting.sort((one, other) => one.attempts - other.attempts);
      if (this.#waiting.length > MAX_WAITING) this.#waiting.pop()?.proceed(false);
    });
  }
}

/**
 * A hash that no password has, with the lowest cost of the users: an unknown user takes as long as a known one if all have
 * one cost, and never makes the exporter work for longer.
 */
function nobodysHash(hashes: ReadonlyMap<string, string>): string {
  const costs = [...hashes.values()].map((hash) => Number(hash.split('$')[2]));
  const lowest = String(Math.min(...costs)).padStart(2, '0');
  return `$2b$${lowest}$QqxN3uWfh5mPzE0yGtK7ZOeLk1Rr9sVb2TdCaHiJwMnXoUpYqSlAu`;
}
