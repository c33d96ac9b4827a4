import type { Window } from '../contract/minutes.ts';
import type { Sample } from '../metrics/samples.ts';
import type { PollResult } from './poll-result.ts';
import type { Task } from './task.ts';

/** The subject of a reading: a task, or a conclusion from several, such as whether an appliance is up. */
export type ResultSource = Pick<Task, 'id' | 'api'>;

/** An output for polled data: `/metrics` is one, remote write another. Sinks do not know each other. */
export interface Sink {
  /**
   * Replaces the previous result of the same origin. The poll ends when this resolves; where it rejects, the poll has
   * failed, and the previous result stays.
   */
  accept(origin: ResultSource, reading: PollResult): Promise<void>;
  /** The origin is gone; or its result is stale, and what was counted stays. */
  withdraw(id: string, keepsCounts?: boolean): void;
}

/** All outputs together: what polling writes to. */
export interface PollSink extends Pick<Sink, 'accept' | 'withdraw'> {
  /** At once: a scrape that withdraws stale values says in the same exposition that their appliance is not up. */
  publishState(origin: ResultSource, samples: Iterable<Sample>): void;
  /** The minutes that a poll returns beside the usual ones; undefined for none. `accept` or `release` ends it. */
  windowOf?(task: Task): Window | undefined;
  /** The poll has failed. */
  release?(id: string): void;
}
