import { createHmac } from 'node:crypto';
import { FairQueue } from './fair-queue.ts';
import type { Compare } from './password-thread.ts';

/** `busy` if too many checks are waiting. */
export type PasswordVerdict = 'right' | 'wrong' | 'busy';

/** The most waiting checks of one address; further unknown clients have to retry. */
const MOST_OF_EACH = 4;

/** The most remembered verdicts of each kind: a scraper needs no bcrypt check each time. */
const MOST_REMEMBERED = 100;

/** A hash without a password, with a cost of two digits. */
const nobodysHash = (cost: string) => `$2b$${cost}$QqxN3uWfh5mPzE0yGtK7ZOeLk1Rr9sVb2TdCaHiJwMnXoUpYqSlAu`;

/**
 * Checks passwords against bcrypt hashes. An unknown user takes as long as a known one: it is checked with the cost of
 * an existing hash, and remembered in the same way. Checks run one at a time, in turn between networks.
 */
export class Passwords {
  readonly #compare: Compare;
  readonly #key: Buffer;
  /** Separate, so that wrong guesses never evict a right verdict. */
  readonly #remembered = { right: new Set<string>(), wrong: new Set<string>() };
  readonly #underWay = new Map<string, Promise<PasswordVerdict>>();
  readonly #turns: FairQueue;

  /** `key`: random and only in this process, so that remembered verdicts are useless without it. */
  constructor(compare: Compare, key: Buffer, mostWaiting = 128) {
    this.#compare = compare;
    this.#key = key;
    this.#turns = new FairQueue({ each: MOST_OF_EACH, all: mostWaiting });
  }

  /** A check always completes and is remembered, even if the client gives up. `users`: their hashes. */
  check(
    users: ReadonlyMap<string, string>,
    user: string,
    password: string,
    address: string,
  ): PasswordVerdict | Promise<PasswordVerdict> {
    const own = users.get(user);
    const hash = own ?? nobodysHash(this.#costFor(users, user));
    const mark = this.#mark(JSON.stringify([user, hash, password]));
    if (this.#remembered.right.has(mark)) return 'right';
    if (this.#remembered.wrong.has(mark)) return 'wrong';
    const underWay = this.#underWay.get(mark);
    if (underWay !== undefined) return underWay;
    const matching = this.#turns.run(address, () => this.#compare(password, hash));
    const verdict = this.#verdict(mark, matching, own !== undefined);
    this.#underWay.set(mark, verdict);
    return verdict;
  }

  async #verdict(mark: string, matching: Promise<boolean | undefined>, isKnown: boolean): Promise<PasswordVerdict> {
    try {
      const matches = await matching;
      if (matches === undefined) return 'busy';
      const verdict = matches && isKnown ? 'right' : 'wrong';
      this.#remember(this.#remembered[verdict], mark);
      return verdict;
    } finally {
      this.#underWay.delete(mark);
    }
  }

  #remember(marks: Set<string>, mark: string): void {
    const [oldest] = marks;
    if (marks.size >= MOST_REMEMBERED && oldest !== undefined) marks.delete(oldest);
    marks.add(mark);
  }

  /** Always the same for one name, so that it looks like an existing user. */
  #costFor(users: ReadonlyMap<string, string>, user: string): string {
    const costs = [...users.values()].map((hash) => hash.split('$')[2] ?? '10');
    return costs[Number.parseInt(this.#mark(user).slice(0, 8), 16) % costs.length] ?? '10';
  }

  #mark(text: string): string {
    return createHmac('sha256', this.#key).update(text).digest('hex');
  }
}
