import type { Write } from '../metrics/snapshot.ts';
import type { Collector, Task } from '../metrics/task.ts';
import type { Clock } from '../runtime/clock.ts';
import { asError } from '../runtime/errors.ts';
import type { Random } from '../runtime/random.ts';
import type { Agenda } from './agenda.ts';
import type { ApiHealth, Fleet } from './health.ts';
import { type Outcome, poll } from './poll.ts';
import { type RestReason, Rests } from './suspension.ts';

/** Hears of what the runner does. */
export interface RunnerEvents {
  /** A poll ended; called before its task is put back. */
  ended(outcome: Outcome, api: { readonly wentDown: boolean; readonly wentUp: boolean }): void;
  /** The collector's tasks are these from now on; `gone` are polled no more. */
  changed(tasks: readonly Task[], gone: readonly Task[]): void;
  /** What the task's poll brought could not be taken in: a fault of ours. Polling goes on. */
  defect(task: Task, error: Error): void;
}

/** What a runner needs. */
export interface RunnerSettings {
  readonly collector: Collector;
  readonly agenda: Agenda;
  readonly health: ApiHealth;
  readonly events: RunnerEvents;
  readonly clock: Clock;
  readonly random: Random;
  /** Polls under way at most. */
  readonly workers: number;
  /** Makes lines of what a poll brought; without it that is left to who publishes. */
  readonly write?: Write;
}

/** The longest time between two polls of an appliance's task that keeps failing, in its intervals: so soon it is back. */
const LONGEST_BACKOFF = 2;

/**
 * What is asked about no single appliance is asked seldom, and nothing else tells the same: after a failure it is asked
 * again soon, in milliseconds, doubling up to its interval. Without the inventory there would be nothing to poll.
 */
const FIRST_RETRY_MS = 15_000;

/** Nothing sleeps longer without looking up, in milliseconds. */
const LONGEST_SLEEP_MS = 3_600_000;

/** Polls one API: takes what is due, asks, tells how it ended and puts it back; until it is stopped. */
export class Runner {
  readonly #settings: RunnerSettings;
  readonly #failures = new Map<string, number>();
  readonly #rests = new Rests();
  /** Tasks that failed while everything failed: made due when the API is back. */
  readonly #failed = new Set<string>();
  #fleet: Fleet = { appliances: 0, tasks: 0 };
  #wake = new AbortController();

  constructor(settings: RunnerSettings) {
    this.#settings = settings;
  }

  /** How many tasks rest: nothing is to be had of them, so they are asked slowly. */
  get resting(): number {
    return this.#rests.size;
  }

  /** Why a task rests; undefined when it does not. */
  restReason(id: string): RestReason | undefined {
    return this.#rests.reasonOf(id);
  }

  /** How many tasks rest for each reason, those with none included. */
  restingBy(): ReadonlyMap<RestReason, number> {
    return this.#rests.counts();
  }

  /** Polls until `signal` aborts; resolves when the last poll under way has ended. Never rejects. */
  async run(signal: AbortSignal): Promise<void> {
    await this.#runUntil(signal, () => false);
  }

  /**
   * Polls everything once, what comes to light meanwhile included; resolves when all have been polled, or when the API
   * turns out to be down.
   */
  async runOnce(signal: AbortSignal): Promise<void> {
    const { agenda, health } = this.#settings;
    const polled = new Set<string>();
    await this.#runUntil(signal, (id) => {
      polled.add(id);
      return health.probing || (polled.size >= agenda.size && [...agenda.tasks()].every((task) => polled.has(task.id)));
    });
  }

  /** Polls until `signal` aborts or `isOver` says so of a task polled; resolves when the last poll under way has ended. */
  async #runUntil(signal: AbortSignal, isOver: (id: string) => boolean): Promise<void> {
    const over = new AbortController();
    const stop = () => {
      over.abort();
      this.#rouse();
    };
    signal.addEventListener('abort', stop, { once: true });
    if (signal.aborted) stop();
    this.#reconcile();
    const work = async () => {
      for (let task = await this.#next(over.signal); task !== undefined; task = await this.#next(over.signal)) {
        await this.#poll(task, signal);
        if (isOver(task.id)) stop();
      }
    };
    await Promise.all(Array.from({ length: this.#settings.workers }, work));
    signal.removeEventListener('abort', stop);
  }

  /** The next task, when there is one; undefined when stopped. */
  async #next(signal: AbortSignal): Promise<Task | undefined> {
    const { agenda, health, clock } = this.#settings;
    while (!signal.aborted) {
      const now = clock.monotonic();
      const wait = health.waitMs(now);
      if (wait === 0) {
        // A probe goes out whether or not anything is due: an outage may outlast every slot.
        const task = health.probing ? agenda.takeProbe() : agenda.take(now);
        if (task !== undefined) {
          health.starting(task);
          return task;
        }
      }
      // Where the time for a probe has come and none could be taken, a poll under way has to end first, and rouses.
      const until = health.probing ? now + (wait || Number.POSITIVE_INFINITY) : agenda.nextDue;
      // One signal for all and no AbortSignal.any: a signal that lives as long as the program remembers every such sum.
      await clock.sleep(Math.min((until ?? Number.POSITIVE_INFINITY) - now, LONGEST_SLEEP_MS), this.#wake.signal);
    }
    return undefined;
  }

  /** Everybody who sleeps looks up. */
  #rouse(): void {
    this.#wake.abort();
    this.#wake = new AbortController();
  }

  async #poll(task: Task, signal: AbortSignal): Promise<void> {
    const { agenda, health, events, clock, write } = this.#settings;
    const outcome = await poll(task, signal, clock, write);
    const now = clock.monotonic();
    const turn = health.observe(outcome, this.#fleet, now);
    this.#guarded(task, () => {
      if (!agenda.has(task.id)) return;
      events.ended(outcome, { wentDown: turn === 'went down', wentUp: turn === 'went up' });
    });
    agenda.wake(this.#rests.spokenFor(outcome, now), now);
    agenda.settle(task, now, { failed: outcome.state === 'failed', afterMs: this.#afterMs(outcome) });
    if (outcome.state === 'failed') this.#failed.add(task.id);
    else this.#failed.delete(task.id);
    if (turn === 'went up') {
      agenda.wake(this.#failed, now);
      this.#failed.clear();
    }
    // A failed one as well: what waited for its first answer need not wait for a good one.
    if (task.changesTasks && outcome.state !== 'aborted') this.#guarded(task, () => this.#reconcile());
    this.#rouse();
  }

  /** Whoever hears of polls cannot end them. */
  #guarded(task: Task, act: () => void): void {
    try {
      act();
    } catch (thrown) {
      this.#settings.events.defect(task, asError(thrown));
    }
  }

  #reconcile(): void {
    const { agenda, collector, events, clock } = this.#settings;
    const tasks = collector.tasks();
    const gone = agenda.reconcile(tasks, clock.monotonic());
    for (const { id } of gone) {
      this.#failures.delete(id);
      this.#failed.delete(id);
      this.#rests.forget(id);
    }
    const serials = new Set(tasks.flatMap(({ appliance }) => appliance?.serial ?? []));
    this.#fleet = { appliances: serials.size, tasks: tasks.length };
    events.changed(tasks, gone);
  }

  /** When the task is to be asked again, where that is not its next slot: after failures later, at rest much later. */
  #afterMs(outcome: Outcome): number | undefined {
    const { task } = outcome;
    const jitter = 0.9 + this.#settings.random() / 10;
    const restMs = this.#rests.observe(outcome);
    if (outcome.state !== 'failed') this.#failures.delete(task.id);
    if (restMs !== undefined) return restMs * jitter;
    if (outcome.state !== 'failed') return undefined;
    const failures = count(this.#failures, task.id);
    if (task.retriesSoon) return Math.min(task.intervalMs, FIRST_RETRY_MS * 2 ** (failures - 1)) * jitter;
    if (task.appliance === undefined || failures < 2) return undefined;
    return task.intervalMs * Math.min(LONGEST_BACKOFF, 2 ** (failures - 1)) * jitter;
  }
}

function count(counts: Map<string, number>, id: string): number {
  const next = (counts.get(id) ?? 0) + 1;
  counts.set(id, next);
  return next;
}
