import type { PollResult } from '../contract/poll-result.ts';
import type { PollSink } from '../contract/sink.ts';
import type { Task } from '../contract/task.ts';
import type { Clock } from '../runtime/clock.ts';
import { policyForError } from '../runtime/error-policy.ts';
import { asError, RequestError } from '../runtime/errors.ts';

/** `denied`: 403, 404 or 422, no fault of the appliance, and polled less often. `aborted`: the program is stopping. */
export type Outcome = { readonly task: Task; readonly seconds: number } & (
  | { readonly state: 'succeeded'; readonly reading: PollResult }
  | { readonly state: 'denied' | 'failed' | 'aborted'; readonly error: Error }
);

/** Polls a task once, and passes its result to the sink; never rejects. */
export async function poll(
  task: Task,
  signal: AbortSignal,
  clock: Clock,
  sink?: Pick<PollSink, 'accept' | 'windowOf' | 'release'>,
): Promise<Outcome> {
  const started = clock.monotonic();
  const seconds = () => (clock.monotonic() - started) / 1000;
  try {
    const reading = await task.poll(signal, sink?.windowOf?.(task));
    await sink?.accept(task, reading);
    return { state: 'succeeded', task, reading, seconds: seconds() };
  } catch (thrown) {
    sink?.release?.(task.id);
    const error = asError(thrown);
    return { state: stateOf(error, task), task, error, seconds: seconds() };
  }
}

function stateOf(error: Error, task: Task): 'denied' | 'failed' | 'aborted' {
  if (!(error instanceof RequestError)) return 'failed';
  if (error.reason === 'aborted') return 'aborted';
  return task.suspendedIntervalMs !== undefined && policyForError(error, 'read').action === 'suspend'
    ? 'denied'
    : 'failed';
}
