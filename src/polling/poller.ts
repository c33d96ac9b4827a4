import type { Sink } from '../metrics/sink.ts';
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

/** What polling one API takes. */
export interface PollerSettings {
  readonly collector: Collector;
  /** Polls under way at most. */
  readonly workers: number;
  readonly sink: Sink;
  readonly staleAfter: number;
  /** Requests per second that the limits allow for long, and whether everything is held after a refusal. */
  readonly limits: { readonly allowedPerSecond: () => number; readonly isHeld: () => boolean };
  /** What is concluded about each appliance; where none are asked for anything, all tasks decide whether the API is up. */
  readonly appliances: ApplianceNames | undefined;
  readonly onTasks?: (tasks: readonly Task[]) => void;
}

/** Polls of one appliance under way at most. */
const PER_APPLIANCE = 2;

/** What failed last may take this part of the workers. */
const FAILING_SHARE = 1 / 4;

/** Time between two probes of an API that is down. */
const PROBE = { firstMs: 2_000, longestMs: 30_000 } as const;

/** Polls one API, and knows how it stands. */
export class Poller {
  readonly tasks: Tasks;
  readonly appliances: Appliances;
  readonly observer: Observer;
  readonly #runner: Runner;

  constructor(settings: PollerSettings, { clock, random, log }: { clock: Clock; random: Random; log: Log }) {
    const { collector, workers, sink, staleAfter, limits } = settings;
    const { api } = collector;
    const tasks = new Tasks({
      staleAfter,
      hasSeries: settings.appliances !== undefined,
      allowedPerSecond: limits.allowedPerSecond,
    });
    const appliances = new Appliances(api, sink, settings.appliances);
    // More failures in a row than there are workers: as many polls as that can hang at once while all others are well.
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

  /** Polls until `signal` aborts; resolves when the last poll under way has ended. Never rejects. */
  run(signal: AbortSignal): Promise<void> {
    return this.#runner.run(signal);
  }

  /** Polls everything once; resolves when all have been polled, or when the API turns out to be down. */
  runOnce(signal: AbortSignal): Promise<void> {
    return this.#runner.runOnce(signal);
  }

  /** Shows what a process before this one had read, as new as `at`, in monotonic milliseconds. */
  restore(task: Task, reading: Reading, at: number): Promise<void> {
    return this.#runner.restore(task, reading, at);
  }

  /** Takes out what is not fresh any more. */
  expire(now: number): void {
    this.#runner.expire(now);
  }
}
