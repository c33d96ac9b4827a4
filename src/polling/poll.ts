import type { PollResult } from '../contract/poll-result.ts';
import type { PollSink } from '../contract/sink.ts';
import type { Task } from '../contract/task.ts';
import { asError, PostponedError, RequestError } from '../runtime/errors.ts';
import { meaningOf } from '../runtime/failures.ts';

/** A usable response. `empty`: it has no record. */
export interface Response {
  readonly result: 'records' | 'empty';
  readonly pollResult: PollResult;
}

/** `denied`: 403, 404 or 422, which is no failure of the appliance. */
export interface Failure {
  readonly result: 'denied' | 'failed';
  readonly error: Error;
}

/** Nothing was learned. `postponed`: the request may be sent at `until`. `aborted`: the program is stopping. */
type NoOutcome = { readonly result: 'postponed'; readonly until: number } | { readonly result: 'aborted' };

export type Outcome = Response | Failure | NoOutcome;

/** Polls a task once, and passes its result to the sink; never rejects. */
export async function poll(
  task: Task,
  signal: AbortSignal,
  sink: Pick<PollSink, 'accept' | 'minutesSince'>,
): Promise<Outcome> {
  try {
    const pollResult = await task.poll(signal, sink.minutesSince?.(task));
    await sink.accept(task, pollResult);
    return { result: pollResult.empty ? 'empty' : 'records', pollResult };
  } catch (thrown) {
    return outcomeOf(asError(thrown), task);
  }
}

function outcomeOf(error: Error, { suspendedIntervalMs }: Task): Failure | NoOutcome {
  if (error instanceof PostponedError) return { result: 'postponed', until: error.until };
  if (error instanceof RequestError && error.reason === 'aborted') return { result: 'aborted' };
  const isDenied = suspendedIntervalMs !== undefined && meaningOf(error).action === 'suspend';
  return { result: isDenied ? 'denied' : 'failed', error };
}
