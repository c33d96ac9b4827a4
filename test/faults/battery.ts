import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { isDeepStrictEqual } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { canCertify } from '../support/certificates.ts';
import { hugeRetryAfter } from './effects.ts';
import { Instance, type Setup } from './instance.ts';
import { Lateness } from './lateness.ts';
import type { Placed } from './places.ts';
import { holdsOn, play, type Stage } from './play.ts';
import { type OperationName, told } from './row.ts';
import { rowsOf, setupsOf } from './rows.ts';

/** The longest that a row may take, in milliseconds: several times what it takes on an idle machine. */
const PATIENCE = { timeout: 150_000 };

/** The long part of the battery, of `npm run test:soak`: troubles that last for many intervals. */
const IS_LASTING = process.env.LASTING_FAULTS === '1';

/** A row that fails is played again only where the machine was late by so much meanwhile, in milliseconds … */
const LATE_MS = 1_000;

/** … and so many of a file at most: else it is not the machine. */
const MOST_AGAIN = 3;

/** An instance is started for so many seconds of rows at least; fewer of the same setup wait for each other. */
const SECONDS_EACH = 30;

/** So many instances at once are of one setup at most, and as many rows are played on it. */
const MOST_INSTANCES = 6;

/** Registers every row of an operation as a test of its own, several at once, each on a process of its own. */
export function battery(operation: OperationName): void {
  const lateness = new Lateness();
  const rows = rowsOf(operation, IS_LASTING, () => `http://127.0.0.1:${port}/elsewhere`);
  const pool = new Pool(rows);
  /** The rows that were played again, each with how late the machine was. */
  const again: string[] = [];
  let played = 0;
  const followed: string[] = [];
  const elsewhere = createServer((asked, answer) => {
    followed.push(`${asked.method} ${asked.url}`);
    answer.end('{"items":[]}');
  });
  let port = 0;
  beforeAll(async () => {
    await new Promise<void>((resolve) => {
      elsewhere.listen(0, '127.0.0.1', resolve);
    });
    ({ port } = elsewhere.address() as AddressInfo);
  });
  afterAll(async () => {
    elsewhere.close();
    lateness.stop();
    await pool.close();
    const late = `the machine was late by ${Math.round(lateness.longestMs)} ms at most`;
    const repeated = again.map((row) => `\n  again: ${row}`).join('');
    process.stdout.write(`faults of ${operation}: ${played} rows, ${again.length} played again, ${late}${repeated}\n`);
    expect(followed, 'redirects that were followed').toEqual([]);
  });

  /** Plays a row, and once more where it failed and the machine was so late that this says nothing. */
  async function row(name: string, setup: Setup, use: (stage: Stage) => Promise<void>, isReusable: boolean) {
    played += 1;
    const begunAt = performance.now();
    const once = () => pool.on(setup, (instance) => use({ setup, instance, lateness }), isReusable);
    try {
      await once();
    } catch (error) {
      const lateMs = lateness.between(begunAt, performance.now());
      if (lateMs < LATE_MS || again.length === MOST_AGAIN) throw error;
      again.push(`${name} (${Math.round(lateMs)} ms late): ${String(error)}`);
      await once();
    }
  }

  describe.concurrent(`${operation}, met with`, () => {
    const isHere = canCertify();
    for (const placed of rows) {
      const { setup, isHeld } = placed;
      const skip = setup.reach === 'tls' && !isHere && process.env.REQUIRE_TLS_CLIENTS !== '1';
      const name = told(placed.row);
      test.skipIf(skip)(name, PATIENCE, () => row(name, setup, (stage) => play(placed.row, stage), !isHeld));
    }
    const setup = rows.find(({ isHeld }) => isHeld)?.setup;
    if (setup === undefined || IS_LASTING) return;
    const name = `${hugeRetryAfter.name}: counted as 429, nothing is sent meanwhile and the other service keeps its pace`;
    test(name, PATIENCE, () => row(name, setup, (stage) => holdsOn(operation, hugeRetryAfter, stage), false));
  });
}

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
class Pool {
  readonly #stables: readonly Stable[];
  // One at a time: a start is work, and what runs beside it is to keep its pace.
  #starting: Promise<unknown> = Promise.resolve();

  /** `rows`: all that will be played. */
  constructor(rows: readonly Placed[]) {
    this.#stables = setupsOf(rows).map(({ setup, seconds }) => ({
      ...{ setup, most: Math.min(MOST_INSTANCES, Math.ceil(seconds / SECONDS_EACH)), idle: [], waiting: [], count: 0 },
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
