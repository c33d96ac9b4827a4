import { onTestFinished } from 'vitest';
import { explainFor } from '../../src/contract/causes.ts';
import type { PollResult } from '../../src/contract/poll-result.ts';
import type { Task } from '../../src/contract/task.ts';
import { Poller } from '../../src/polling/poller.ts';
import { RequestError } from '../../src/runtime/errors.ts';
import { getOrCreate } from '../../src/runtime/maps.ts';
import type { Random } from '../../src/runtime/random.ts';
import { portalCauses } from '../../src/services/portal/causes.ts';
import { ManualClock } from '../support/manual-clock.ts';
import { answered, families, Lines, minutes, records, Shelf } from './fleet.ts';

/** What a poll does: it takes so long, and then this comes of it. Longer than any time-out: it hangs. */
export interface Manner {
  readonly ms?: number;
  readonly comes?: PollResult | Error;
}

/** Made-up tasks on a real poller, and what it did with them. */
export class Stage {
  readonly clock = new ManualClock();
  readonly poller: Poller;
  readonly started: { readonly id: string; readonly at: number }[] = [];
  readonly shelf = new Shelf();
  readonly lines = new Lines(() => this.clock.monotonic(), false);
  readonly #starts = new Map<string, number[]>();
  readonly #flying = new Map<string, number>();
  #inFlight = 0;
  readonly #stopping = new AbortController();
  /** Most polls under way at once, over all and of one task. */
  most = 0;
  maxOfOne = 0;
  tasks: readonly Task[];
  manner: (task: Task, nth: number) => Manner = () => ({});
  running: Promise<void> = Promise.resolve();

  constructor(tasks: readonly Task[], workers = 4, random: Random = () => 0.5) {
    this.tasks = tasks;
    const { clock } = this;
    this.poller = new Poller(
      {
        collector: { api: 'portal', tasks: () => this.tasks.map((task) => this.#watched(task)) },
        workers,
        sink: this.shelf,
        intervalMs: minutes(5),
        staleAfter: 3,
        appliances: families,
        allowedPerSecond: () => Number.POSITIVE_INFINITY,
        warnings: () => [],
        explain: explainFor(portalCauses),
        isWaiting: () => false,
      },
      { clock, random, log: this.lines },
    );
  }

  /** How many tasks are suspended. */
  get suspended(): number {
    return this.poller.registry.suspended.size;
  }

  /** What the log said of the API. */
  get turns(): string[] {
    return this.lines.all.map(({ text }) => text).filter((text) => text.startsWith('the API '));
  }

  /** Starts it; it ends with the test. */
  run(): this {
    this.running = this.poller.run(this.#stopping.signal);
    onTestFinished(() => this.stop());
    return this;
  }

  runOnce(): Promise<void> {
    return this.poller.runOnce(this.#stopping.signal);
  }

  async stop(): Promise<void> {
    this.#stopping.abort();
    await this.running;
  }

  /** The moments at which a task was polled since the one given. */
  startsOf(id: string, since = 0): number[] {
    return (this.#starts.get(id) ?? []).filter((at) => at >= since);
  }

  /** The pauses between a task's polls, in its intervals. */
  pausesOf({ id, intervalMs }: Task, since = 0): number[] {
    const starts = this.startsOf(id, since);
    return starts.slice(1).map((at, index) => (at - (starts[index] ?? 0)) / intervalMs);
  }

  #watched(task: Task): Task {
    return { ...task, poll: (signal) => this.#poll(task, signal) };
  }

  async #poll(task: Task, signal: AbortSignal): Promise<PollResult> {
    const { id } = task;
    const of = (this.#flying.get(id) ?? 0) + 1;
    this.#flying.set(id, of);
    this.maxOfOne = Math.max(this.maxOfOne, of);
    this.#inFlight += 1;
    this.most = Math.max(this.most, this.#inFlight);
    const starts = getOrCreate(this.#starts, id, () => []);
    starts.push(this.clock.monotonic());
    this.started.push({ id, at: this.clock.monotonic() });
    const { ms = 0, comes = records } = this.manner(task, starts.length);
    try {
      await this.clock.sleep(ms, signal);
      if (signal.aborted) throw new RequestError('aborted', 'stopping');
      if (comes instanceof Error) throw comes;
      return comes;
    } finally {
      this.#flying.set(id, (this.#flying.get(id) ?? 0) - 1);
      this.#inFlight -= 1;
    }
  }
}

/** A failure of the service or the way to it. */
export const broken: Manner = { comes: answered(503) };

/** Nothing comes until the time-out. */
export const hanging: Manner = { ms: 30_000, comes: new RequestError('timeout', 'too late') };
