import type { Dispatcher } from 'undici';
import { after, type Clock } from '../runtime/clock.ts';
import { asError, RequestError } from '../runtime/errors.ts';

export interface AttemptParts {
  readonly dispatcher: Dispatcher;
  readonly clock: Clock;
  /** For headers and body, in milliseconds. */
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
  readonly place: string;
}

/** Sends once. Rejects with a RequestError `timeout` or `aborted`, with undici's error, or with that of `read`. */
export async function attempt<Result>(
  request: Dispatcher.RequestOptions,
  read: (answer: Dispatcher.ResponseData) => Promise<Result>,
  { dispatcher, clock, timeoutMs, signal, place }: AttemptParts,
): Promise<Result> {
  const aborting = new AbortController();
  const stop = () => aborting.abort(new RequestError('aborted', `${place} was aborted: the exporter is stopping`));
  const late = () =>
    aborting.abort(new RequestError('timeout', `${place} got no complete answer within ${timeoutMs} ms`));
  const inTime = after(clock, timeoutMs, late);
  signal.addEventListener('abort', stop, { once: true });
  // A signal that is already aborted fires no event, and a listener would wait for ever.
  if (signal.aborted) stop();
  try {
    const asked = dispatcher.request({ ...request, signal: aborting.signal, headersTimeout: 0, bodyTimeout: 0 });
    return await read(await unlessAborted(asked, aborting.signal));
  } catch (thrown) {
    // An abort surfaces as undici's own error; the reason of the abort says more.
    throw aborting.signal.aborted ? aborting.signal.reason : thrown;
  } finally {
    inTime();
    signal.removeEventListener('abort', stop);
  }
}

/** Rejects as soon as the signal aborts: undici ignores it until it has a connection, which may hang for long. */
function unlessAborted<Result>(asked: Promise<Result>, signal: AbortSignal): Promise<Result> {
  return new Promise((resolve, reject) => {
    const giveUp = () => reject(asError(signal.reason));
    signal.addEventListener('abort', giveUp, { once: true });
    if (signal.aborted) giveUp();
    asked.then(resolve, reject).finally(() => signal.removeEventListener('abort', giveUp));
  });
}
