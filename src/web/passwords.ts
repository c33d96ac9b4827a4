import { createHmac } from 'node:crypto';
import pLimit from 'p-limit';
import { clientOf } from './client-address.ts';
import type { Compare } from './password-thread.ts';

/** `busy` if too many checks are waiting. */
export type PasswordVerdict = 'right' | 'wrong' | 'busy';

/** The most checks of one client at once; beyond that it has to retry. */
const MAX_OF_EACH = 4;

/** The most remembered verdicts of each kind: a scraper needs no bcrypt check each time. */
const MAX_REMEMBERED = 100;

/** A hash without a password, with a cost of two digits. */
const nobodysHash = (cost: string) => `$2b$${cost}$QqxN3uWfh5mPzE0yGtK7ZOeLk1Rr9sVb2TdCaHiJwMnXoUpYqSlAu`;

/**
 * Checks passwords against bcrypt hashes. An unknown user takes as long as a known one: it is checked with the cost of
 * an existing hash, and remembered in the same way. Checks run one at a time, in order of arrival.
 */
export class Passwords {
  readonly #compare: Compare;
  readonly #key: Buffer;
  /** Separate, so that wrong guesses never evict a right verdict. */
  readonly #remembered = { right: new Set<string>(), wrong: new Set<string>() };
  readonly #underWay = new Map<string, Promise<PasswordVerdict>>();
  readonly #oneAtATime = pLimit(1);
  readonly #maxWaiting: number;
  /** How many checks of each client wait or run. */
  readonly #perClient = new Map<string, number>();

  /** `key`: random and only in this process, so that remembered verdicts are useless without it. */
  constructor(compare: Compare, key: Buffer, maxWaiting = 128) {
    this.#compare = compare;
    this.#key = key;
    this.#maxWaiting = maxWaiting;
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
    const client = clientOf(address);
    const count = this.#perClient.get(client) ?? 0;
    if (count >= MAX_OF_EACH || this.#oneAtATime.pendingCount >= this.#maxWaiting) return 'busy';
    this.#perClient.set(client, count + 1);
    const verdict = this.#oneAtATime(async () => {
      try {
        const isRight = (await this.#compare(password, hash)) && own !== undefined;
        this.#remember(this.#remembered[isRight ? 'right' : 'wrong'], mark);
        return isRight ? 'right' : 'wrong';
      } finally {
        this.#underWay.delete(mark);
        this.#release(client);
      }
    });
    this.#underWay.set(mark, verdict);
    return verdict;
  }

  #release(client: string): void {
    const left = (this.#perClient.get(client) ?? 1) - 1;
    if (left > 0) this.#perClient.set(client, left);
    else this.#perClient.delete(client);
  }

  #remember(marks: Set<string>, mark: string): void {
    const [oldest] = marks;
    if (marks.size >= MAX_REMEMBERED && oldest !== undefined) marks.delete(oldest);
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
