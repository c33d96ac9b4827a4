import type { Sample } from '../metrics/samples.ts';
import type { PollResult } from './poll-result.ts';
import type { Task } from './task.ts';

/** What a result is about: a task, or something that follows from several tasks, such as whether an appliance is up. */
export type ResultSource = Pick<Task, 'id' | 'api'>;

/** What polling writes to: `/metrics`, and remote write if it is configured. */
export interface PollSink {
  /**
   * Replaces the previous result of the same source. The poll ends when this resolves. If it rejects, the poll has
   * failed, and the previous result stays.
   */
  accept(origin: ResultSource, pollResult: PollResult): Promise<void>;
  /** Removes the result of a source that is removed or stale. With `keepsCounts`, counters and histograms stay. */
  withdraw(id: string, keepsCounts?: boolean): void;
  /**
   * Publishes a state without waiting, so that a scrape that removes stale values shows in the same exposition that
   * their appliance is down.
   */
  publishState(origin: ResultSource, samples: Iterable<Sample>): void;
  /** The time after which the poll of a task has to return all minutes; undefined if the newest ones are enough. */
  minutesSince?(task: Task): number | undefined;
}
