import type { Task } from '../contract/task.ts';
import { unitHash } from '../runtime/random.ts';
import { NEVER_POLLED, type TaskState } from './task-state.ts';
import { newVerdict, type Verdict } from './verdict.ts';

/** `failing`: it failed, or its appliance did, so it may hang. `awaited`: a verdict waits for it. */
export type TaskKind = 'priority' | 'awaited' | 'well' | 'failing';

/** A task with its state, and when it is polled next. Moments are monotonic milliseconds. */
export class PolledTask {
  /** The definition of the task, which changes with the inventory. */
  task: Task;
  appliance: PolledAppliance | undefined;
  addedAt: number;
  /** Whether the task left the inventory; it may still be in flight. */
  isRemoved = false;
  state: TaskState = NEVER_POLLED;
  /** When it is polled next; infinite while it is in flight. */
  dueAt: number;
  /** Until then the service rejects every request of the task, so it is not polled. */
  postponedUntil = Number.NEGATIVE_INFINITY;
  /** What kind of task it was when its poll started; undefined if it is not in flight. */
  inFlightAs: TaskKind | undefined;
  /** Whether a verdict waits for the next poll of this task. */
  isAwaited = false;
  /**
   * The place of the task in its interval, from 0 to 1. It follows from the name, so that a cycle is even and a restart
   * polls in the same order.
   */
  readonly phase: number;

  constructor(task: Task, appliance: PolledAppliance | undefined, now: number) {
    this.task = task;
    this.appliance = appliance;
    this.addedAt = now;
    this.phase = unitHash(task.id);
    // Tasks are spread over a millisecond, so that no appliance is polled completely before the next one.
    this.dueAt = now + this.phase;
  }

  get isPolled(): boolean {
    return this.state.lastResult !== undefined;
  }

  /** Whether the service is known to reject its requests. */
  get isRejected(): boolean {
    return this.state.suspended !== undefined && this.state.suspended !== 'empty';
  }

  /** Makes the task due by then, unless it is due earlier, postponed or in flight. */
  hasten(dueAt: number): void {
    if (this.inFlightAs === undefined) this.dueAt = Math.min(this.dueAt, Math.max(dueAt, this.postponedUntil));
  }
}

/**
 * `reporting`: it is up, because its series have records. The others say why it is down: `no_records`: the portal responds
 * without records; `unavailable`: the portal does not respond about it.
 */
export type ApplianceState = 'reporting' | 'no_records' | 'unavailable';

type PublishedAppliance = Readonly<Pick<PolledAppliance, 'name' | 'state' | 'newestRecordMs'>>;

export class PolledAppliance {
  readonly serial: string;
  name: string;
  tasks: PolledTask[] = [];
  /** The configured interval of its most frequent tasks. */
  intervalMs = Number.POSITIVE_INFINITY;
  /** Whether its series have records. */
  verdict: Verdict;
  /**
   * Undefined before the first verdict, and if the service was silent for so long that it is unknown. While the service is
   * down it stays as it was, and `published` has no state.
   */
  state: ApplianceState | undefined;
  /** The time of the newest record of any of its tasks, in epoch milliseconds; 0 before the first. */
  newestRecordMs = 0;
  /** What metrics show of it; undefined before the first time. */
  published: PublishedAppliance | undefined;
  /** Failures in a row, of any of its tasks: it may hang. */
  failuresInARow = 0;

  constructor(serial: string, name: string, now: number) {
    this.serial = serial;
    this.name = name;
    this.verdict = newVerdict(now);
  }
}
