import { DropCount, type Reading } from '../../metrics/snapshot.ts';
import type { Collector, Task } from '../../metrics/task.ts';
import type { Clock } from '../../runtime/clock.ts';
import type { Log } from '../../runtime/log.ts';
import { inSlices } from '../../runtime/slices.ts';
import type { GfaClient } from './client.ts';
import type { Ledger } from './ledger.ts';
import { readAnswer } from './records.ts';

/** What polls the file acceleration service: one task, for its answer is about the whole account. */
export class GfaCollector implements Collector {
  readonly api = 'gfa';
  readonly #client: GfaClient;
  readonly #ledger: Ledger;
  readonly #clock: Clock;
  readonly #log: Log;
  readonly #tasks: readonly Task[];
  #answers = 0;

  constructor(client: GfaClient, ledger: Ledger, intervalMs: number, clock: Clock, log: Log) {
    this.#client = client;
    this.#ledger = ledger;
    this.#clock = clock;
    this.#log = log;
    this.#tasks = [{ id: 'gfa/data', api: 'gfa', operation: 'data', intervalMs, poll: (signal) => this.#poll(signal) }];
  }

  tasks(): readonly Task[] {
    return this.#tasks;
  }

  async #poll(signal: AbortSignal): Promise<Reading> {
    const body = await this.#client.data(signal);
    const drops = new DropCount();
    const answer = readAnswer(body, drops.note);
    const events = await inSlices(this.#ledger.absorb(answer, this.#clock.monotonic(), drops.note), this.#clock);
    if (this.#answers === 0) this.#log.info({ api: this.api, events }, 'the first answer brought events');
    this.#answers += 1;
    return { samples: this.#ledger.samples(), drops: drops.counts, empty: false };
  }
}
