import type { Task } from '../contract/task.ts';
import { LargeMap } from '../runtime/large-map.ts';
import { unitHash } from '../runtime/random.ts';
import { Heap } from './heap.ts';
import { type Context, NOTHING_KNOWN, observe, type TaskEvent, type TaskFacts } from './task-facts.ts';
import { RECORDS, RESPONSES, type Subject, Verdict, works } from './verdict.ts';

/** A task that is polled, and what is known of it. */
export class PolledTask {
  /** The definition of the task, which changes with the inventory. */
  task: Task;
  appliance: ApplianceTasks | undefined;
  addedAt: number;
  /** Whether the task left the inventory; it may still be in flight. */
  isRemoved = false;
  /**
   * The place of the task in its interval, from 0 to 1. It follows from the name, so that a cycle is even and a restart
   * polls in the same order.
   */
  readonly phase: number;
  #facts = NOTHING_KNOWN;

  constructor(task: Task, now: number, appliance?: ApplianceTasks) {
    this.task = task;
    this.addedAt = now;
    this.appliance = appliance;
    this.phase = unitHash(task.id);
  }

  get facts(): TaskFacts {
    return this.#facts;
  }

  get isPolled(): boolean {
    return this.#facts.lastResult !== undefined;
  }

  observe(event: TaskEvent, context: Context): void {
    this.#facts = observe(this.#facts, event, context);
  }

  /** The task was removed while it was in flight and is listed again; what was known before does not count. */
  restart(task: Task, now: number, appliance: ApplianceTasks | undefined): void {
    this.task = task;
    this.appliance = appliance;
    this.addedAt = now;
    this.isRemoved = false;
    this.#facts = NOTHING_KNOWN;
  }
}

/** The hash of tasks in a {@link LargeMap}. */
export function phaseOf({ phase }: PolledTask): number {
  return phase;
}

/** Returns an empty heap that may hold every task. */
export function taskHeap(): Heap<PolledTask> {
  return new Heap(new LargeMap<PolledTask, number>(phaseOf));
}

/**
 * The state of an appliance: it has records, the portal responds without records, or the portal does not respond about
 * it.
 */
export type ApplianceState = 'reporting' | 'no_records' | 'unavailable';

/** After this many failures in a row, of any of its tasks, an appliance may hang. */
const DOUBTFUL_AFTER = 2;

export class ApplianceTasks {
  readonly serial: string;
  readonly tasks = new Set<PolledTask>();
  readonly records: Verdict<PolledTask>;
  readonly responses: Verdict<PolledTask>;
  name: string;
  /** The configured interval of the appliance's most frequent tasks. */
  intervalMs = Number.POSITIVE_INFINITY;
  /** The number of its tasks that have not been polled yet. */
  unpolled = 0;
  /** The state that metrics and the status page show. */
  shown: { readonly state: ApplianceState; readonly name: string; readonly newestRecordMs: number } | undefined;
  #failures = 0;

  constructor(serial: string, name: string, staleAfter: number, now: number) {
    this.serial = serial;
    this.name = name;
    this.records = new Verdict(RECORDS, staleAfter, now);
    this.responses = new Verdict(RESPONSES, staleAfter, now);
  }

  /** Undefined before the first verdict. */
  get state(): ApplianceState | undefined {
    if (this.records.isUp !== false) return this.records.isUp ? 'reporting' : undefined;
    return this.responses.isUp ? 'no_records' : 'unavailable';
  }

  get isDoubtful(): boolean {
    return this.#failures >= DOUBTFUL_AFTER;
  }

  /** Counts a poll; returns whether the appliance has become doubtful, or is no longer. */
  countPoll(hasFailed: boolean): boolean {
    const wasDoubtful = this.isDoubtful;
    this.#failures = hasFailed ? this.#failures + 1 : 0;
    return this.isDoubtful !== wasDoubtful;
  }

  /** Returns the task that succeeded last and works; undefined if none works. */
  lastWorking(subject: Subject): PolledTask | undefined {
    let last: PolledTask | undefined;
    for (const polled of this.tasks) {
      const isLater = last === undefined || subject.lastAt(polled.facts) > subject.lastAt(last.facts);
      if (isLater && works(subject, polled.facts)) last = polled;
    }
    return last;
  }
}
