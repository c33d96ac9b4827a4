import { once } from 'node:events';
import type { Dispatcher } from 'undici';
import { type Clock, callAfter } from '../runtime/clock.ts';
import { RequestError } from '../runtime/errors.ts';

export interface SendingOptions {
  readonly dispatcher: Dispatcher;
  readonly clock: Clock;
  /** The longest time from sending to the complete body, in milliseconds. */
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
  /** Method and path, for messages. */
  readonly requestName: string;
}

/**
 * undici 7 pauses its parser while a reader lags by this many bytes. If the service closes the connection meanwhile, an
 * assertion of undici fails outside of every promise, and the process ends. Each reader limits the bytes that it takes.
 */
const NEVER_PAUSED = Number.MAX_SAFE_INTEGER;

/** Sends a request once. Rejects with a RequestError `timeout` or `aborted`, with undici's error, or with the error of `read`. */
export async function sendOnce<Result>(
  request: Dispatcher.RequestOptions,
  read: (response: Dispatcher.ResponseData) => Promise<Result>,
  { dispatcher, clock, timeoutMs, signal, requestName }: SendingOptions,
): Promise<Result> {
  const aborting = new AbortController();
  // undici ignores the signal until it has a connection, and opening one may hang for long.
  const aborted = once(aborting.signal, 'abort').then(() => Promise.reject(aborting.signal.reason));
  const onStop = () =>
    aborting.abort(new RequestError('aborted', `${requestName} was aborted: the exporter is stopping`));
  const onTimeout = () =>
    aborting.abort(new RequestError('timeout', `${requestName} returned no complete response within ${timeoutMs} ms`));
  const cancelTimeout = callAfter(clock, timeoutMs, onTimeout);
  signal.addEventListener('abort', onStop, { once: true });
  // A signal that is already aborted fires no event: the listener alone would never be called.
  if (signal.aborted) onStop();
  try {
    const options = {
      ...request,
      signal: aborting.signal,
      headersTimeout: 0,
      bodyTimeout: 0,
      highWaterMark: NEVER_PAUSED,
    };
    return await read(await Promise.race([dispatcher.request(options), aborted]));
  } catch (thrown) {
    // undici throws its own error after an abort, but only the reason of the abort says why.
    throw aborting.signal.aborted ? aborting.signal.reason : thrown;
  } finally {
    cancelTimeout();
    signal.removeEventListener('abort', onStop);
  }
}
