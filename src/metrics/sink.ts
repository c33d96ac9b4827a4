import type { Reading } from './snapshot.ts';
import type { Task } from './task.ts';

/** What a reading is about: a task, or what is concluded from several, as whether an appliance is up. */
export type Origin = Pick<Task, 'id' | 'api'>;

/** An output of what is polled: `/metrics` is one, remote write another. Outputs know nothing of each other. */
export interface Sink {
  /**
   * Takes what a poll brought, in the place of what the same origin brought before; part of the poll, which ends when
   * this resolves. An output that may be slow takes it into a queue of its own. Rejects where it cannot be taken: then
   * the poll has failed, and what the origin brought before stands.
   */
  accept(origin: Origin, reading: Reading): Promise<void>;
  /** What the origin brought is not fresh any more, or the origin is gone. */
  withdraw(id: string): void;
}
