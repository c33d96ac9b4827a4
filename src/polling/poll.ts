import type { Reading, Write, Written } from '../metrics/snapshot.ts';
import type { Task } from '../metrics/task.ts';
import type { Clock } from '../runtime/clock.ts';
import { asError, RequestError } from '../runtime/errors.ts';

/**
 * How a poll ended. `absent`: the service says that there is no such thing, or that we may not see it (403, 404); no
 * fault of the appliance, and asked again slowly. `aborted`: the program is stopping.
 */
export type Outcome =
  | {
      readonly state: 'succeeded';
      readonly task: Task;
      readonly reading: Reading;
      /** The reading's samples as lines, where they have been written. */
      readonly written?: Written | undefined;
      readonly seconds: number;
    }
  | {
      readonly state: 'absent' | 'failed' | 'aborted';
      readonly task: Task;
      readonly error: Error;
      readonly seconds: number;
    };

/**
 * Polls a task once; never rejects. `write` makes lines of what came, as a part of the poll: it may take longer than one
 * turn of the event loop should, and publishing takes none.
 */
export async function poll(task: Task, signal: AbortSignal, clock: Clock, write?: Write): Promise<Outcome> {
  const started = clock.monotonic();
  const seconds = () => (clock.monotonic() - started) / 1000;
  try {
    const reading = await task.poll(signal);
    const written = await write?.(reading.samples);
    return { state: 'succeeded', task, reading, written, seconds: seconds() };
  } catch (thrown) {
    const error = asError(thrown);
    return { state: stateOf(error, task), task, error, seconds: seconds() };
  }
}

function stateOf(error: Error, task: Task): 'absent' | 'failed' | 'aborted' {
  if (!(error instanceof RequestError)) return 'failed';
  if (error.fault === 'aborted') return 'aborted';
  const says = error.status === 403 || error.status === 404 || error.status === 422;
  return task.restMs !== undefined && says ? 'absent' : 'failed';
}
