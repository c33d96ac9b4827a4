import { text } from '../../metrics/samples.ts';
import { DropCount, type Reading } from '../../metrics/snapshot.ts';
import type { Collector, Task } from '../../metrics/task.ts';
import type { Clock } from '../../runtime/clock.ts';
import type { Log } from '../../runtime/log.ts';
import { inSlices } from '../../runtime/slices.ts';
import type { Keeping } from '../upstream.ts';
import type { GfaClient } from './client.ts';
import { Ledger, type LedgerSettings } from './ledger.ts';
import { readAnswer } from './records.ts';

/** How long the first answer waits for the names in the portal's inventory, in milliseconds. */
const NAMES_WAIT_MS = 5_000;

/**
 * The shortest time between two log lines about a change of account, and between two backups of the counts, in
 * milliseconds.
 */
const ACCOUNT_TOLD_EVERY_MS = 3_600_000;

export interface GfaCollectorSettings {
  readonly ledger: LedgerSettings;
  readonly intervalMs: number;
  readonly keeping: Keeping | undefined;
}

/** Polls the file acceleration service with a single task, because its answer is about the whole account. */
export class GfaCollector implements Collector {
  readonly api = 'gfa';
  readonly #client: GfaClient;
  readonly #settings: GfaCollectorSettings;
  readonly #clock: Clock;
  readonly #log: Log;
  readonly #task: Task;
  #ledger: Ledger;
  #answers = 0;
  /** The number of requests sent when an answer was last read. */
  #attemptsRead = 0;
  #told = { isShared: false, isEvicting: false };
  /** Monotonic milliseconds; undefined until a change of account was logged. */
  #accountToldAt: number | undefined;

  constructor(client: GfaClient, settings: GfaCollectorSettings, clock: Clock, log: Log) {
    this.#client = client;
    this.#settings = settings;
    this.#clock = clock;
    this.#log = log;
    this.#ledger = new Ledger(settings.ledger);
    const { intervalMs } = settings;
    this.#task = { id: 'gfa/data', api: 'gfa', operation: 'data', intervalMs, poll: (signal) => this.#poll(signal) };
  }

  tasks(): readonly Task[] {
    return [this.#task];
  }

  /** The counts, for the state file. */
  readonly kept = {
    values: {
      state: () => this.#ledger.state(this.#clock.monotonic()),
      restore: (values: readonly unknown[], elapsedMs: number) => this.restore(values, elapsedMs),
      known: () => {
        const { answeredAt } = this.#ledger;
        if (answeredAt === undefined) return undefined;
        return { task: this.#task, answeredAt, samples: this.#ledger.samples() };
      },
    },
  };

  /** The state built from all answers; replaced when the account changes. */
  get ledger(): Ledger {
    return this.#ledger;
  }

  /** Reads the state of the previous process, and returns the function that applies it. */
  *restore(values: readonly unknown[], elapsedMs: number): Generator<void, () => void> {
    const ledger = new Ledger(this.#settings.ledger);
    yield* ledger.restore(values, elapsedMs, this.#clock.monotonic());
    return () => {
      this.#ledger = ledger;
      // The process may have been stopped with a request in flight.
      this.#attemptsRead = -1;
    };
  }

  /**
   * Polls, updates the ledger, and saves it before the result is exposed: whenever the process is killed, the state
   * file has everything that a scrape has seen, with the events that it was counted from.
   */
  async #poll(signal: AbortSignal): Promise<Reading> {
    try {
      const reading = await this.#read(await this.#client.data(signal), signal);
      await this.#settings.keeping?.save();
      return reading;
    } catch (error) {
      // Nothing was counted, but the day's budget has changed. Stopping saves on its own.
      if (!signal.aborted) await this.#settings.keeping?.save();
      throw error;
    }
  }

  async #read(body: unknown, signal: AbortSignal): Promise<Reading> {
    const drops = new DropCount();
    const answer = readAnswer(body, drops.note);
    await this.#checkAccount(text(answer.info.account));
    const isAfterLoss = this.#client.attempts > this.#attemptsRead + 1;
    this.#attemptsRead = this.#client.attempts;
    const ledger = this.#ledger;
    const events = await inSlices(ledger.absorb(answer, this.#clock.monotonic(), drops.note, isAfterLoss), this.#clock);
    if (this.#answers === 0) this.#log.info({ api: this.api, events }, 'first answer read');
    this.#answers += 1;
    this.#warn();
    this.#settings.ledger.names.takeTitles(ledger.titles());
    if (this.#answers === 1) await this.#waitForNames(signal);
    const samples = { [Symbol.iterator]: () => ledger.samples() };
    return { samples, drops: drops.counts, empty: false };
  }

  /**
   * The first answer waits briefly for the portal's inventory, so that a filer does not start under a name that changes
   * at the next poll. If the portal is down, the wait ends early.
   */
  async #waitForNames(signal: AbortSignal): Promise<void> {
    const { names } = this.#settings.ledger;
    if (names.isSettled) return;
    const ended = new AbortController();
    await Promise.race([names.settled, this.#clock.sleep(NAMES_WAIT_MS, AbortSignal.any([signal, ended.signal]))]);
    ended.abort();
  }

  /** The counts of another account do not apply to this one. Answers may also alternate between accounts. */
  async #checkAccount(account: string): Promise<void> {
    const before = this.#ledger.account;
    if (account === '' || before === '' || account === before) return;
    this.#ledger = new Ledger(this.#settings.ledger);
    const now = this.#clock.monotonic();
    if (this.#accountToldAt !== undefined && now - this.#accountToldAt < ACCOUNT_TOLD_EVERY_MS) return;
    this.#accountToldAt = now;
    this.#log.warn({ api: this.api, before, account }, 'account changed; counting starts again');
    await this.#settings.keeping?.disown('it belongs to another account');
  }

  #warn(): void {
    const { isSuspicious: isShared, missed } = this.#ledger.bookmarks;
    const { evicted, size } = this.#ledger.memory;
    const before = this.#told;
    this.#told = { isShared, isEvicting: before.isEvicting || evicted > 0 };
    if (isShared && !before.isShared) {
      this.#log.warn(
        { api: this.api, missed },
        'events are missing: another instance may use this client key; give each its own GFA_CLIENT_KEY',
      );
    }
    if (this.#told.isEvicting && !before.isEvicting) {
      this.#log.warn(
        { api: this.api, remembered: size },
        'event limit reached: oldest events evicted; they would count again if the service sent them again',
      );
    }
  }
}
