import { networksOf } from './networks.ts';

/** Something that waits for its turn. */
interface Turn {
  /** Where it comes from, the widest network first. */
  readonly networks: readonly string[];
  isWanted(): boolean;
  /** Does it. Never rejects: its own promise does. */
  begin(): Promise<void>;
  skip(): void;
}

/** Networks remembered by when they were last served. */
const MOST_REMEMBERED = 10_000;

/** How much may wait. */
export interface QueueLimits {
  /** Of one address, or of one /64 of IPv6. */
  readonly each: number;
  readonly all: number;
}

/**
 * Does one thing at a time: next what comes from the network that was served longest ago or never, and within it from the
 * narrower one that was. So neither many turns of one client nor many clients of one network hold up others.
 */
export class FairQueue {
  readonly #limits: QueueLimits;
  /** What waits, in the order in which it came. */
  #waiting: Turn[] = [];
  /** When each network was last served, as a count of turns; the one served longest ago first. */
  readonly #served = new Map<string, number>();
  #turns = 0;
  #isBusy = false;

  constructor(limits: QueueLimits) {
    this.#limits = limits;
  }

  /** What the job gives; undefined where it is not done: too much waits, or nothing waits for it when its turn comes. */
  run<Result>(address: string, isWanted: () => boolean, job: () => Promise<Result>): Promise<Result | undefined> {
    const networks = networksOf(address);
    this.#skipUnwanted();
    const own = this.#waiting.filter((turn) => turn.networks.at(-1) === networks.at(-1));
    if (own.length >= this.#limits.each) return Promise.resolve(undefined);
    return new Promise((resolve, reject) => {
      const begin = async () => {
        try {
          resolve(await job());
        } catch (error) {
          reject(error);
        }
      };
      this.#waiting.push({ networks, isWanted, begin, skip: () => resolve(undefined) });
      if (this.#waiting.length > this.#limits.all) this.#skip(this.#mostCrowded());
      if (!this.#isBusy) void this.#work();
    });
  }

  async #work(): Promise<void> {
    this.#isBusy = true;
    for (let turn = this.#next(); turn !== undefined; turn = this.#next()) {
      this.#waiting.splice(this.#waiting.indexOf(turn), 1);
      this.#remember(turn.networks);
      await turn.begin();
    }
    this.#isBusy = false;
  }

  #next(): Turn | undefined {
    this.#skipUnwanted();
    // Of equals the one that came first: sorting keeps the order.
    return this.#waiting.toSorted((one, other) => this.#compare(one, other))[0];
  }

  #compare(one: Turn, other: Turn): number {
    for (const [level, network] of one.networks.entries()) {
      const difference = this.#servedAt(network) - this.#servedAt(other.networks[level] ?? '');
      if (difference !== 0) return difference;
    }
    return 0;
  }

  #servedAt(network: string): number {
    return this.#served.get(network) ?? 0;
  }

  #remember(networks: readonly string[]): void {
    this.#turns += 1;
    for (const network of networks) {
      this.#served.delete(network);
      this.#served.set(network, this.#turns);
    }
    for (const network of this.#served.keys()) {
      if (this.#served.size <= MOST_REMEMBERED) break;
      this.#served.delete(network);
    }
  }

  /** The newest of the network of which most waits, and within it of the narrower one of which most waits. */
  #mostCrowded(): Turn | undefined {
    let crowd: readonly Turn[] = this.#waiting;
    for (let level = 0; level < 3; level += 1) {
      const networks = new Set(crowd.map((turn) => turn.networks[level]));
      const crowds = [...networks].map((network) => crowd.filter((turn) => turn.networks[level] === network));
      crowd = crowds.toSorted((one, other) => other.length - one.length)[0] ?? [];
    }
    return crowd.at(-1);
  }

  /** What nothing waits for takes no place. */
  #skipUnwanted(): void {
    for (const turn of this.#waiting.filter((each) => !each.isWanted())) this.#skip(turn);
  }

  #skip(turn: Turn | undefined): void {
    this.#waiting = this.#waiting.filter((each) => each !== turn);
    turn?.skip();
  }
}
