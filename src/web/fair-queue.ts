import { networksOf } from './networks.ts';

interface Turn {
  /** The widest first. */
  readonly networks: readonly string[];
  /** Never rejects: the promise of {@link FairQueue.run} does. */
  begin(): Promise<void>;
  drop(): void;
}

const MOST_NETWORKS = 10_000;

/**
 * Runs one job at a time: the next is from the network that was not served yet, the newest first, or else from the one
 * served longest ago; within a network, from the narrower network by the same rule. So an attacker delays a client of
 * another network by no more turns than the attacker has networks that were not served yet.
 */
export class FairQueue {
  readonly #limits: { readonly each: number; readonly all: number };
  /** Waiting jobs in order of arrival. */
  #waiting: Turn[] = [];
  /** The lowest goes first: negative for a network that was not served yet. In order of last use. */
  readonly #ranks = new Map<string, number>();
  #counted = 0;
  #isBusy = false;

  /** `each`: the most waiting jobs of one address, or one /64 of IPv6; `all`: of all together. */
  constructor(limits: { readonly each: number; readonly all: number }) {
    this.#limits = limits;
  }

  /** The job's result; undefined if it was rejected because too many wait. */
  run<Result>(address: string, job: () => Promise<Result>): Promise<Result | undefined> {
    const networks = networksOf(address);
    const own = this.#waiting.filter((turn) => turn.networks.at(-1) === networks.at(-1));
    if (own.length >= this.#limits.each) return Promise.resolve(undefined);
    this.#counted += 1;
    for (const network of networks) if (!this.#ranks.has(network)) this.#rank(network, -this.#counted);
    return new Promise((resolve, reject) => {
      const begin = () => job().then(resolve, reject);
      this.#waiting.push({ networks, begin, drop: () => resolve(undefined) });
      if (this.#waiting.length > this.#limits.all) this.#dropOne();
      if (!this.#isBusy) void this.#work();
    });
  }

  async #work(): Promise<void> {
    this.#isBusy = true;
    for (let [turn] = this.#inOrder(); turn !== undefined; [turn] = this.#inOrder()) {
      this.#remove(turn);
      this.#counted += 1;
      for (const network of turn.networks) this.#rank(network, this.#counted);
      await turn.begin();
    }
    this.#isBusy = false;
  }

  /** Equals in order of arrival: sorting is stable. */
  #inOrder(): readonly Turn[] {
    return this.#waiting.toSorted((one, other) => {
      for (const [level, network] of one.networks.entries()) {
        const difference = this.#rankOf(network) - this.#rankOf(other.networks[level]);
        if (difference !== 0) return difference;
      }
      return 0;
    });
  }

  #rankOf(network: string | undefined): number {
    return this.#ranks.get(network ?? '') ?? 0;
  }

  #rank(network: string, rank: number): void {
    this.#ranks.delete(network);
    this.#ranks.set(network, rank);
    const [oldest] = this.#ranks.keys();
    if (this.#ranks.size > MOST_NETWORKS && oldest !== undefined) this.#ranks.delete(oldest);
  }

  /** Drops the job that would run last of the network with the most waiting jobs, and within it of the narrower one. */
  #dropOne(): void {
    let crowd = this.#inOrder().toReversed();
    for (let level = 0; level < 3; level += 1) {
      const networks = new Set(crowd.map((turn) => turn.networks[level]));
      const crowds = [...networks].map((network) => crowd.filter((turn) => turn.networks[level] === network));
      crowd = crowds.toSorted((one, other) => other.length - one.length)[0] ?? [];
    }
    const [turn] = crowd;
    if (turn === undefined) return;
    this.#remove(turn);
    turn.drop();
  }

  #remove(turn: Turn): void {
    this.#waiting = this.#waiting.filter((each) => each !== turn);
  }
}
