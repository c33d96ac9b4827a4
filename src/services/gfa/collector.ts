import type { Kept, Restoration } from '../../contract/kept.ts';
import { DropCounter, type PollResult } from '../../contract/poll-result.ts';
import type { ServiceWarning } from '../../contract/service-warning.ts';
import type { Collector, Task } from '../../contract/task.ts';
import { labelValue } from '../../metrics/samples.ts';
import type { Clock } from '../../runtime/clock.ts';
import type { Log } from '../../runtime/log.ts';
import { runInSlices } from '../../runtime/slices.ts';
import type { StateKeeper } from '../../state/keeper.ts';
import type { RestoredResult } from '../service.ts';
import type { GfaClient } from './client.ts';
import { parseDataResponse } from './data-response.ts';
import { GfaLedger, type GfaLedgerOptions, type Piece } from './ledger.ts';

/** How long the first response waits for the names in the portal's inventory, in milliseconds. */
const NAMES_WAIT_MS = 5_000;

export interface GfaDependencies {
  readonly client: GfaClient;
  readonly ledger: GfaLedgerOptions;
  readonly intervalMs: number;
  readonly keeper: Pick<StateKeeper, 'save' | 'discard'> | undefined;
  readonly clock: Clock;
  readonly log: Log;
}

/** A single task, because its response is about the whole account. */
export class GfaCollector implements Collector, Kept {
  readonly api = 'gfa';
  readonly part = 'gfa';
  readonly #parts: GfaDependencies;
  readonly #task: Task;
  #ledger: GfaLedger;
  #isFirst = true;
  #attemptsRead = 0;

  constructor(parts: GfaDependencies) {
    this.#parts = parts;
    this.#ledger = new GfaLedger(parts.ledger);
    const { intervalMs } = parts;
    this.#task = { id: 'gfa/data', api: 'gfa', operation: 'data', intervalMs, poll: (signal) => this.#poll(signal) };
  }

  tasks(): readonly Task[] {
    return [this.#task];
  }

  restoredResult(): RestoredResult | undefined {
    const { answeredAt } = this.#ledger;
    if (answeredAt === undefined) return undefined;
    return { task: this.#task, answeredAt, samples: this.#ledger.samples() };
  }

  get ledger(): GfaLedger {
    return this.#ledger;
  }

  get notes(): readonly ServiceWarning[] {
    const { bookmarks, memory } = this.#ledger;
    const notes: ServiceWarning[] = [];
    if (bookmarks.isSuspicious) {
      const message =
        'Events are missing: another client seems to receive them. Give each exporter its own GFA_CLIENT_KEY; if each has one, the service may not know the header of GFA_CLIENT_KEY_HEADER: --doctor tells which it is.';
      notes.push({ code: 'client_key', message });
    }
    if (memory.evicted > 0 || memory.size >= this.#parts.ledger.maxEvents) {
      const message =
        'The memory of events is full: an evicted event counts again if the service sends it again; what cannot be remembered is dropped.';
      notes.push({ code: 'event_memory', message });
    }
    return notes;
  }

  changes(): Iterable<unknown> {
    return this.#ledger.changes();
  }

  all(): Iterable<unknown> {
    return this.#ledger.all();
  }

  restore(shiftMs: number): Restoration {
    const ledger = new GfaLedger(this.#parts.ledger);
    return {
      put: (piece) => ledger.put(piece as Piece, shiftMs),
      commit: () => {
        ledger.restored(this.#parts.clock.monotonic());
        this.#ledger = ledger;
        // The process may have been stopped with a request in flight.
        this.#attemptsRead = -1;
      },
    };
  }

  /** Saved before it is exposed: whenever the process is killed, the state file has all that a scrape has seen. */
  async #poll(signal: AbortSignal): Promise<PollResult> {
    const { client, keeper } = this.#parts;
    try {
      const reading = await this.#read(await client.data(signal), signal);
      await keeper?.save();
      return reading;
    } catch (error) {
      // Nothing was counted, but the day's budget has changed. Stopping saves on its own.
      if (!signal.aborted) await keeper?.save();
      throw error;
    }
  }

  async #read(body: unknown, signal: AbortSignal): Promise<PollResult> {
    const { client, clock, log } = this.#parts;
    const drops = new DropCounter();
    const response = parseDataResponse(body, drops.reportDrop);
    await this.#checkAccount(labelValue(response.info.account));
    const isAfterLoss = client.attempts > this.#attemptsRead + 1;
    this.#attemptsRead = client.attempts;
    const ledger = this.#ledger;
    const events = await runInSlices(ledger.add(response, clock.monotonic(), drops.reportDrop, isAfterLoss), clock);
    this.#parts.ledger.names.setTitles(ledger.filers.titles());
    if (this.#isFirst) {
      this.#isFirst = false;
      log.info({ api: this.api, events }, 'first response read');
      await this.#waitForNames(signal);
    }
    const samples = { [Symbol.iterator]: () => ledger.samples() };
    return { samples, drops: drops.counts, empty: false };
  }

  /** So that a filer does not start under a name that changes at the next poll; ends early if the portal is down. */
  async #waitForNames(signal: AbortSignal): Promise<void> {
    const { clock, ledger } = this.#parts;
    if (ledger.names.isInventoryRead) return;
    const ended = new AbortController();
    await Promise.race([
      ledger.names.inventoryRead,
      clock.sleep(NAMES_WAIT_MS, AbortSignal.any([signal, ended.signal])),
    ]);
    ended.abort();
  }

  /** The counts of another account do not apply to this one. */
  async #checkAccount(account: string): Promise<void> {
    const { keeper, log } = this.#parts;
    const before = this.#ledger.account;
    if (account === '' || before === '' || account === before) return;
    this.#ledger = new GfaLedger(this.#parts.ledger);
    log.warn({ api: this.api, before, account }, 'account changed; counting starts again');
    await keeper?.discard('it belongs to another account');
  }
}
