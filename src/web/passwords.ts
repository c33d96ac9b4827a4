import { createHmac } from 'node:crypto';
import { FairQueue } from './fair-queue.ts';
import type { Compare } from './password-thread.ts';

/** How a user and a password were found; `busy` where they were not checked because too many wait. */
export type PasswordVerdict = 'right' | 'wrong' | 'busy';

/** Checks of one address that wait at once; beyond, a client that is not known yet is asked to come again. */
const MOST_OF_EACH = 4;

/** Verdicts remembered, of each kind: a scraper does not pay for bcrypt every time. */
const MOST_REMEMBERED = 100;

/** A hash of nobody's password, at a cost of two digits. */
const nobodysHash = (cost: string) => `$2b$${cost}$QqxN3uWfh5mPzE0yGtK7ZOeLk1Rr9sVb2TdCaHiJwMnXoUpYqSlAu`;

/**
 * Checks passwords against bcrypt hashes. A user who is not there takes as long as one who is: both are checked, at the
 * cost of one of the hashes there are, and remembered alike. One check is made at a time, in turn between networks.
 */
export class Passwords {
  readonly #compare: Compare;
  readonly #key: Buffer;
  /** Apart, so that guesses push nobody out who is right. */
  readonly #remembered = { right: new Set<string>(), wrong: new Set<string>() };
  readonly #underWay = new Map<string, Promise<PasswordVerdict>>();
  readonly #turns: FairQueue;

  /**
   * `key`: unpredictable, of this process; what is remembered of passwords is of no use without it. `mostWaiting`: checks
   * that wait at once in all.
   */
  constructor(compare: Compare, key: Buffer, mostWaiting = 128) {
    this.#compare = compare;
    this.#key = key;
    this.#turns = new FairQueue({ each: MOST_OF_EACH, all: mostWaiting });
  }

  /**
   * Whether this is the password of this user, among these with their hashes. A check that was asked for is made, and
   * remembered for the next time, though the client gives up waiting. `address`: where from; networks take turns.
   */
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

  /** Always the same for one name, so that it cannot be told from a user's. */
  #costFor(users: ReadonlyMap<string, string>, user: string): string {
    const costs = [...users.values()].map((hash) => hash.split('$')[2] ?? '10');
    return costs[Number.parseInt(this.#mark(user).slice(0, 8), 16) % costs.length] ?? '10';
  }

  #mark(text: string): string {
    return createHmac('sha256', this.#key).update(text).digest('hex');
  }
}
