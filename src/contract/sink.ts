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
  /** The part of a reading that this output leaves to `/metrics`, because each series has one writer; all by default. */
  readonly leaves?: (reading: PollResult) => PollResult;
}

/** All outputs together: what polling writes to. */
export interface PollSink extends Pick<Sink, 'accept' | 'withdraw'> {
  /** At once: a scrape that withdraws stale values says in the same exposition that their appliance is not up. */
  publishState(origin: ResultSource, samples: Iterable<Sample>): void;
}
