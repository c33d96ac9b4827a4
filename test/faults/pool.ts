import { isDeepStrictEqual } from 'node:util';
import { Instance, type Setup } from './instance.ts';
import type { Placed } from './places.ts';
import { setupsOf } from './rows.ts';

/** An instance is started for so many seconds of rows at least; fewer of the same setup wait for each other. */
const SECONDS_EACH = 15;

/** So many instances at once are of one setup at most, and as many rows are played on it. */
const MAX_INSTANCES = 12;

/** The instances of one setup. */
interface Stable {
  readonly setup: Setup;
  /** How many there may be at once. */
  readonly most: number;
  readonly idle: Instance[];
  /** Rows that wait for one of them. */
  readonly waiting: (() => void)[];
  /** How many there are, those that are being started among them. */
  count: number;
}

/** Instances and the rows that are played on them: starting one is more work than most rows are. */
export class Pool {
  readonly #stables: readonly Stable[];
  // One at a time: a start is work, and what runs beside it is to keep its pace.
  #starting: Promise<unknown> = Promise.resolve();

  /** `rows`: all that will be played. */
  constructor(rows: readonly Placed[]) {
    this.#stables = setupsOf(rows).map(({ setup, seconds }) => ({
      setup,
      most: Math.min(MAX_INSTANCES, Math.ceil(seconds / SECONDS_EACH)),
      idle: [],
      waiting: [],
      count: 0,
    }));
  }

  /** Runs on an instance that nobody else uses. One on which a row failed, or that is to be thrown away, is not used again. */
  async on(setup: Setup, use: (instance: Instance) => Promise<void>, isReusable: boolean): Promise<void> {
    const stable = this.#stables.find((one) => isDeepStrictEqual(one.setup, setup));
    if (stable === undefined) throw new Error('no row of this setup was announced');
    const instance = await this.#lent(stable);
    let isWell = false;
    try {
      await use(instance);
      isWell = isReusable;
    } finally {
      if (isWell) stable.idle.push(instance);
      else await this.#end(stable, instance);
      stable.waiting.shift()?.();
    }
  }

  /** Ends all that are idle; nothing is played any more. */
  async close(): Promise<void> {
    await Promise.all(this.#stables.flatMap(({ idle }) => idle.map((instance) => instance.close())));
  }

  async #lent(stable: Stable): Promise<Instance> {
    while (stable.idle.length === 0 && stable.count >= stable.most) {
      await new Promise<void>((resolve) => stable.waiting.push(resolve));
    }
    return stable.idle.pop() ?? this.#started(stable);
  }

  /** A new one, in the place of one that waits for rows of another setup: those come together, and idle it polls for nothing. */
  #started(stable: Stable): Promise<Instance> {
    stable.count += 1;
    const other = this.#stables.find(({ idle, waiting }) => idle.length > 0 && waiting.length === 0);
    const replaced = other?.idle.pop();
    const start = this.#starting.then(async () => {
      if (other !== undefined && replaced !== undefined) await this.#end(other, replaced);
      return Instance.start(stable.setup);
    });
    this.#starting = start.catch(() => {
      stable.count -= 1;
      stable.waiting.shift()?.();
    });
    return start;
  }

  async #end(stable: Stable, instance: Instance): Promise<void> {
    stable.count -= 1;
    await instance.close();
  }
}
