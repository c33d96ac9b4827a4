import type { PollResult } from '../contract/poll-result.ts';
import type { PollSink } from '../contract/sink.ts';
import type { Task } from '../contract/task.ts';
import type { Clock } from '../runtime/clock.ts';
import { asError, RequestError } from '../runtime/errors.ts';
import { meaningOf } from '../runtime/failures.ts';

/** A usable response. `empty`: it has no record. */
export interface Response {
  readonly result: 'records' | 'empty';
  readonly pollResult: PollResult;
  readonly seconds: number;
}

/** `denied`: 403, 404 or 422, which is no failure of the appliance. */
export interface Failure {
  readonly result: 'denied' | 'failed';
  readonly error: Error;
  readonly seconds: number;
}

/** The outcome of a poll. `aborted`: the program is stopping. */
export type Outcome =
  | Response
  | Failure
  | { readonly result: 'aborted'; readonly error: Error; readonly seconds: number };

/** Polls a task once, and passes its result to the sink; never rejects. */
export async function poll(
  task: Task,
  signal: AbortSignal,
  clock: Clock,
  sink?: Pick<PollSink, 'accept' | 'minutesSince'>,
): Promise<Outcome> {
  const started = clock.monotonic();
  const seconds = () => (clock.monotonic() - started) / 1000;
  try {
    const pollResult = await task.poll(signal, sink?.minutesSince?.(task));
    await sink?.accept(task, pollResult);
    return { result: pollResult.empty ? 'empty' : 'records', pollResult, seconds: seconds() };
  } catch (thrown) {
    const error = asError(thrown);
    return { result: resultOf(error, task), error, seconds: seconds() };
  }
}

function resultOf(error: Error, task: Task): Exclude<Outcome, Response>['result'] {
  if (!(error instanceof RequestError)) return 'failed';
  if (error.reason === 'aborted') return 'aborted';
  return task.suspendedIntervalMs !== undefined && meaningOf(error).action === 'suspend' ? 'denied' : 'failed';
}
