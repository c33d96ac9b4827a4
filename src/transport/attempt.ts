import { once } from 'node:events';
import type { Dispatcher } from 'undici';
import { type Clock, callAfter } from '../runtime/clock.ts';
import { RequestError } from '../runtime/errors.ts';

export interface AttemptDependencies {
  readonly dispatcher: Dispatcher;
  readonly clock: Clock;
  /** For headers and body, in milliseconds. */
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
  readonly place: string;
}

/**
 * undici 7 pauses its parser while a reader lags by this many bytes. If the service closes the connection meanwhile, an
 * assertion of undici fails outside of every promise, and the process ends. Readers bound what they take themselves.
 */
const NEVER_PAUSED = 2 ** 31;

/** Sends once. Rejects with a RequestError `timeout` or `aborted`, with undici's error, or with that of `read`. */
export async function sendOnce<Result>(
  request: Dispatcher.RequestOptions,
  read: (answer: Dispatcher.ResponseData) => Promise<Result>,
  { dispatcher, clock, timeoutMs, signal, place }: AttemptDependencies,
): Promise<Result> {
  const aborting = new AbortController();
  // undici ignores the signal until it has a connection, which may hang for long.
  const aborted = once(aborting.signal, 'abort').then(() => Promise.reject(aborting.signal.reason));
  const stop = () => aborting.abort(new RequestError('aborted', `${place} was aborted: the exporter is stopping`));
  const late = () =>
    aborting.abort(new RequestError('timeout', `${place} got no complete answer within ${timeoutMs} ms`));
  const inTime = callAfter(clock, timeoutMs, late);
  signal.addEventListener('abort', stop, { once: true });
  // A signal that is already aborted fires no event, and a listener would wait for ever.
  if (signal.aborted) stop();
  try {
    const response = dispatcher.request({
      ...request,
      signal: aborting.signal,
      headersTimeout: 0,
      bodyTimeout: 0,
      highWaterMark: NEVER_PAUSED,
    });
    return await read(await Promise.race([response, aborted]));
  } catch (thrown) {
    // An abort surfaces as undici's own error; the reason of the abort says more.
    throw aborting.signal.aborted ? aborting.signal.reason : thrown;
  } finally {
    inTime();
    signal.removeEventListener('abort', stop);
  }
}
