import type { PollSink } from '../metrics/sink.ts';
import type { Reading } from '../metrics/snapshot.ts';
import type { ApplianceNames, Collector, Task } from '../metrics/task.ts';
import type { Clock } from '../runtime/clock.ts';
import type { Log } from '../runtime/log.ts';
import type { Random } from '../runtime/random.ts';
import { Agenda } from './agenda.ts';
import { Appliances } from './appliances.ts';
import { SeriesHealth } from './health.ts';
import { Observer } from './observer.ts';
import { Runner } from './runner.ts';
import { Tasks } from './tasks.ts';

export interface PollerSettings {
  readonly collector: Collector;
  readonly workers: number;
  readonly sink: PollSink;
  readonly staleAfter: number;
  readonly forgetAfterMs?: number;
  /** The requests per second that the limits sustain, and whether everything is held after a 429. */
  readonly limits: { readonly allowedPerSecond: () => number; readonly isHeld: () => boolean };
  /** The families of each appliance's state; without them, all tasks decide whether the API is up. */
  readonly appliances: ApplianceNames | undefined;
  readonly onTasks?: (tasks: readonly Task[]) => void;
}

/** The most polls of one appliance in flight. */
const PER_APPLIANCE = 2;

/** The share of the workers for tasks whose last poll failed. */
const FAILING_SHARE = 1 / 4;

/** Time between two probes of an API that is down. */
const PROBE = { firstMs: 2_000, longestMs: 30_000 } as const;

/** Polls one API, and knows its state. */
export class Poller {
  readonly tasks: Tasks;
  readonly appliances: Appliances;
  readonly observer: Observer;
  readonly #runner: Runner;

  constructor(settings: PollerSettings, { clock, random, log }: { clock: Clock; random: Random; log: Log }) {
    const { collector, workers, sink, staleAfter, forgetAfterMs, limits } = settings;
    const { api } = collector;
    const tasks = new Tasks({
      staleAfter,
      ...(forgetAfterMs !== undefined && { forgetAfterMs }),
      hasSeries: settings.appliances !== undefined,
      allowedPerSecond: limits.allowedPerSecond,
    });
    const appliances = new Appliances(api, sink, settings.appliances);
    // More failures in a row than workers: that many polls can hang at once while all others succeed.
    const health = new SeriesHealth({ failures: 2 * workers, probe: PROBE }, random);
    const observer = new Observer({ api, tasks, appliances, health, isHeld: limits.isHeld, clock, log });
    const agenda = new Agenda({
      perAppliance: PER_APPLIANCE,
      failing: Math.max(1, Math.floor(workers * FAILING_SHARE)),
    });
    this.tasks = tasks;
    this.appliances = appliances;
    this.observer = observer;
    this.#runner = new Runner({
      ...{ collector, tasks, agenda, appliances, health, observer, sink, clock, random, workers },
      ...(settings.onTasks && { onTasks: settings.onTasks }),
    });
  }

  /** Polls until `signal` aborts; resolves when the last poll in flight has ended. Never rejects. */
  run(signal: AbortSignal): Promise<void> {
    return this.#runner.run(signal);
  }

  /** Polls everything once; resolves when all have been polled, or when the API turns out to be down. */
  runOnce(signal: AbortSignal): Promise<void> {
    return this.#runner.runOnce(signal);
  }

  /** Shows the reading of a previous process, as of `at`, in monotonic milliseconds. */
  restore(task: Task, reading: Reading, at: number): Promise<void> {
    return this.#runner.restore(task, reading, at);
  }

  /** Removes stale values. */
  expire(now: number): void {
    this.#runner.expire(now);
  }
}
