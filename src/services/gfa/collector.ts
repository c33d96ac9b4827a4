import { DropCounter, type PollResult } from '../../contract/poll-result.ts';
import type { SavedPart, SaveSoon } from '../../contract/saved-part.ts';
import type { ServiceWarning } from '../../contract/service-warning.ts';
import type { Collector, Task } from '../../contract/task.ts';
import { labelValue } from '../../metrics/samples.ts';
import type { Clock } from '../../runtime/clock.ts';
import type { Log } from '../../runtime/log.ts';
import type { RestoredResult } from '../service.ts';
import { fullEventMemory } from './causes.ts';
import { parseDataResponse } from './data-response.ts';
import { GfaLedger, type GfaLedgerOptions, type SavedLedger } from './ledger.ts';

/** How long the first response waits for the names in the portal's inventory, and how often it looks, in milliseconds. */
const NAMES_WAIT_MS = 5_000;
const NAMES_STEP_MS = 100;

export interface GfaDependencies {
  /** Resolves with the body of a response of `GET /data`. */
  readonly request: (signal: AbortSignal) => Promise<unknown>;
  readonly ledger: GfaLedgerOptions;
  readonly intervalMs: number;
  readonly saveSoon: SaveSoon | undefined;
  readonly clock: Clock;
  readonly log: Log;
}

/** Polls `GET /data`. It is a single task, because a response covers the whole account. */
export class GfaCollector implements Collector, SavedPart {
  readonly api = 'gfa';
  readonly name = 'gfa';
  readonly #dependencies: GfaDependencies;
  readonly #task: Task;
  ledger: GfaLedger;
  #isFirstResponse = true;

  constructor(dependencies: GfaDependencies) {
    this.#dependencies = dependencies;
    this.ledger = new GfaLedger(dependencies.ledger);
    const { intervalMs } = dependencies;
    this.#task = { id: 'gfa/data', api: 'gfa', operation: 'data', intervalMs, poll: (signal) => this.#poll(signal) };
  }

  tasks(): readonly Task[] {
    return [this.#task];
  }

  restoredResult(): RestoredResult | undefined {
    const { respondedAt } = this.ledger;
    if (respondedAt === undefined) return undefined;
    return { task: this.#task, respondedAt, samples: this.ledger.samples() };
  }

  get warnings(): readonly ServiceWarning[] {
    const { evicted, size, limit } = this.ledger.memory;
    return evicted > 0 || size >= limit ? [fullEventMemory] : [];
  }

  save(): SavedLedger {
    return this.ledger.save();
  }

  restore(saved: unknown, shiftMs: number): void {
    const ledger = new GfaLedger(this.#dependencies.ledger);
    ledger.restore(saved as SavedLedger, shiftMs, this.#dependencies.clock.monotonic());
    this.ledger = ledger;
  }

  async #poll(signal: AbortSignal): Promise<PollResult> {
    const { request, clock, log, ledger: options, saveSoon } = this.#dependencies;
    const drops = new DropCounter();
    const response = parseDataResponse(await request(signal), drops.reportDrop);
    this.#checkAccount(labelValue(response.info.account));
    const { ledger } = this;
    const events = await ledger.add(response, clock.monotonic(), drops.reportDrop);
    if (events > 0) saveSoon?.();
    options.names.setTitles(ledger.filers.titles());
    if (this.#isFirstResponse) {
      this.#isFirstResponse = false;
      log.info({ api: this.api, events }, 'The first response was read.');
      await this.#waitForNames(signal);
    }
    const samples = { [Symbol.iterator]: () => ledger.samples() };
    return { samples, drops: drops.counts, empty: false };
  }

  /** Waits for the portal's inventory, so that a filer does not start with a name that changes at the next poll. */
  async #waitForNames(signal: AbortSignal): Promise<void> {
    const { clock, ledger } = this.#dependencies;
    for (let waitedMs = 0; waitedMs < NAMES_WAIT_MS && !signal.aborted; waitedMs += NAMES_STEP_MS) {
      if (ledger.names.isInventoryRead) return;
      await clock.sleep(NAMES_STEP_MS, signal);
    }
  }

  /** Discards the counts if the token belongs to another account than before. */
  #checkAccount(account: string): void {
    const { log } = this.#dependencies;
    const before = this.ledger.account;
    if (account === '' || before === '' || account === before) return;
    this.ledger = new GfaLedger(this.#dependencies.ledger);
    log.warn(
      { api: this.api, before, account },
      'The token belonged to another account than before. Counting started again at 0.',
    );
  }
}
