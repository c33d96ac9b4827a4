import type { IncomingHttpHeaders } from 'node:http';
import type { LimitFunction } from 'p-limit';
import type { Dispatcher } from 'undici';
import type { Clock } from '../runtime/clock.ts';
import { asError, RequestError, ShapeError } from '../runtime/errors.ts';
import { printable } from '../runtime/printable.ts';
import { type AllowedRequests, assertAllowed, type Method } from './allowed.ts';
import type { AnswerLimits, AnswerSize } from './answer-limits.ts';
import { readJson } from './body.ts';
import { connectionFault } from './connection-faults.ts';
import { masked } from './masking.ts';
import type { Verdict } from './rate/pace.ts';
import type { Attempt, Pacer } from './rate/pacer.ts';
import { retryAfterMs } from './retry-after.ts';

/** One request to an API, relative to its base URL. */
export interface ApiRequest {
  readonly method: Method;
  /** Begins with `/`; the segments are already encoded. */
  readonly path: string;
  /** Its value of the label `operation`. */
  readonly operation: string;
  /** The size of its answer; default `one`. */
  readonly size?: AnswerSize;
  readonly query?: Readonly<Record<string, string>>;
  readonly headers?: Readonly<Record<string, string>>;
  /**
   * The header of that name, evaluated when the request leaves: the token may have been renewed while the request
   * waited.
   */
  readonly authorization?: () => string;
  /** Sent as `application/json`. */
  readonly json?: unknown;
  /** Sent as `application/x-www-form-urlencoded`. */
  readonly form?: Readonly<Record<string, string>>;
  /** Throws a ShapeError if the body of a 2xx answer does not fit this request, which then counts as `invalid`. */
  readonly check?: (body: unknown) => unknown;
  /** Its place among waiting requests; default `first`. */
  readonly turn?: Attempt | undefined;
}

/** One request and its answer, for the doctor. Contains secrets and names, so it must not be printed as it is. */
export interface Exchange {
  readonly operation: string;
  /** Undefined if there was no answer. */
  readonly status: number | undefined;
  /** By lower-case name. */
  readonly headers: IncomingHttpHeaders;
  /** When the headers of the answer arrived, in epoch milliseconds. */
  readonly answeredAt: number;
  readonly seconds: number;
  /** The length of the answer's body as sent, compressed or not. */
  readonly bytes: number;
  /** The parsed JSON body; undefined if it could not be read. */
  readonly body: unknown;
}

/** Is called for every request, for the exporter's own metrics. */
export interface RequestObserver {
  started?(operation: string): void;
  /** `code`: the HTTP status, or why there was no usable answer. */
  ended?(operation: string, code: string, seconds: number): void;
  throttled?(): void;
  exchanged?(exchange: Exchange): void;
}

export interface ClientSettings {
  /** Without a trailing slash. */
  readonly baseUrl: string;
  readonly userAgent: string;
  readonly dispatcher: Dispatcher;
  readonly clock: Clock;
  readonly pacer: Pacer;
  /** Limits the requests in flight. */
  readonly limit: LimitFunction;
  readonly observer: RequestObserver;
  /** For one attempt, headers and body, in milliseconds. */
  readonly timeoutMs: number;
  readonly allowed: readonly AllowedRequests[];
  readonly limitsOf: (size: AnswerSize) => AnswerLimits;
}

/**
 * The client of one HTTP API. Every request is checked against the allowed ones, counted, paced, limited in time and
 * size, and tried once.
 */
export class JsonClient {
  readonly #settings: ClientSettings;
  readonly #base: URL;

  constructor(settings: ClientSettings) {
    this.#settings = settings;
    this.#base = new URL(settings.baseUrl);
  }

  /**
   * Sends a request when its turn comes and returns the parsed body of a 2xx answer. Rejects with a RequestError for
   * every other answer, and with what `check` throws. A 429 delays every later request of this API for as long as the
   * service asks. An abort of `signal` gives a RequestError `aborted`.
   */
  send(request: ApiRequest, signal: AbortSignal): Promise<unknown> {
    assertAllowed(request, this.#settings.allowed);
    return this.#settings.limit(async () => {
      const { pacer, clock, observer } = this.#settings;
      const { operation } = request;
      const departure = await pacer.turn(signal, request.turn);
      if (departure === undefined)
        throw new RequestError('aborted', `${nameOf(request)} was not sent: the exporter is stopping`);
      const authorization = request.authorization?.();
      const departing =
        authorization === undefined ? request : { ...request, headers: { ...request.headers, authorization } };
      observer.started?.(operation);
      const started = clock.monotonic();
      let code = '200';
      let verdict: Verdict = { state: 'unknown' };
      const answer: Answer = { status: undefined, headers: {}, answeredAt: 0, bytes: 0, body: undefined };
      try {
        const status = await this.#attempt(departing, answer, signal);
        code = String(status);
        verdict = status === 429 ? { state: 'refused', retryAfterMs: retryAfterOf(answer) } : { state: 'taken' };
        if (!isSuccess(status)) {
          const hint = hintOf(departing, answer.body);
          throw new RequestError('status', `${nameOf(request)} was answered ${status}${hint}`, { status });
        }
        request.check?.(answer.body);
        return answer.body;
      } catch (thrown) {
        const error = thrown instanceof ShapeError ? thrown : toRequestError(request, thrown);
        code = error instanceof ShapeError ? 'invalid' : error.code;
        throw error;
      } finally {
        pacer.ended(departure, verdict);
        if (verdict.state === 'refused') observer.throttled?.();
        const seconds = (clock.monotonic() - started) / 1000;
        observer.ended?.(operation, code, seconds);
        observer.exchanged?.({ ...answer, operation, seconds });
      }
    });
  }

  /** Tries once. Fills in the answer as it arrives, and returns its status. */
  async #attempt(request: ApiRequest, answer: Answer, signal: AbortSignal): Promise<number> {
    const { dispatcher, clock, timeoutMs, limitsOf, userAgent } = this.#settings;
    const attempt = new AbortController();
    const giveUp = () =>
      attempt.abort(new RequestError('aborted', `${nameOf(request)} was aborted: the exporter is stopping`));
    signal.addEventListener('abort', giveUp, { once: true });
    // Other code may have run since the turn: a signal that is already aborted fires no event, and a listener would
    // wait for ever.
    if (signal.aborted) giveUp();
    void clock.sleep(timeoutMs, attempt.signal).then(() => {
      if (attempt.signal.aborted) return;
      attempt.abort(new RequestError('timeout', `${nameOf(request)} got no complete answer within ${timeoutMs} ms`));
    });
    try {
      const { body, type } = payloadOf(request);
      const asked = dispatcher.request({
        origin: this.#base.origin,
        path: `${this.#base.pathname.replace(/\/$/, '')}${request.path}${queryOf(request)}`,
        method: request.method,
        headers: {
          accept: 'application/json',
          'accept-encoding': 'gzip',
          'user-agent': userAgent,
          ...(type === undefined ? {} : { 'content-type': type }),
          ...request.headers,
        },
        body: body ?? null,
        signal: attempt.signal,
        headersTimeout: 0,
        bodyTimeout: 0,
      });
      const arrived = await unlessAborted(asked, attempt.signal);
      answer.status = arrived.statusCode;
      answer.headers = arrived.headers;
      answer.answeredAt = clock.now();
      answer.body = await readJson(arrived, {
        ...{ limits: limitsOf(request.size ?? 'one'), lenient: !isSuccess(arrived.statusCode) },
        ...{ place: nameOf(request), clock, sent: answer },
      });
      return arrived.statusCode;
    } catch (thrown) {
      // An abort surfaces as undici's own error; the reason of the abort says more.
      throw attempt.signal.aborted ? attempt.signal.reason : thrown;
    } finally {
      // Ends the timer. With a reason: otherwise Node makes an error with its stack.
      attempt.abort('ended');
      signal.removeEventListener('abort', giveUp);
    }
  }
}

/**
 * Resolves as `asked` does, or rejects as soon as the signal aborts: undici ignores a signal until it has a connection,
 * and it retries a handshake that hangs for many seconds.
 */
function unlessAborted<Result>(asked: Promise<Result>, signal: AbortSignal): Promise<Result> {
  return new Promise((resolve, reject) => {
    const giveUp = () => reject(asError(signal.reason));
    signal.addEventListener('abort', giveUp, { once: true });
    if (signal.aborted) giveUp();
    asked.then(resolve, reject).finally(() => signal.removeEventListener('abort', giveUp));
  });
}

type Answer = { -readonly [Name in keyof Omit<Exchange, 'operation' | 'seconds'>]: Exchange[Name] };

function isSuccess(status: number): boolean {
  return status >= 200 && status <= 299;
}

function retryAfterOf({ headers, answeredAt }: Answer): number | undefined {
  return retryAfterMs(first(headers['retry-after']), first(headers.date), answeredAt);
}

function nameOf(request: ApiRequest): string {
  return `${request.method} ${request.path}`;
}

function queryOf({ query }: ApiRequest): string {
  const text = String(new URLSearchParams(query));
  return text === '' ? '' : `?${text}`;
}

function first(header: string | string[] | undefined): string | undefined {
  return Array.isArray(header) ? header[0] : header;
}

function payloadOf(request: ApiRequest): { readonly body?: string; readonly type?: string } {
  if (request.json !== undefined) return { body: JSON.stringify(request.json), type: 'application/json' };
  if (request.form === undefined) return {};
  return { body: String(new URLSearchParams(request.form)), type: 'application/x-www-form-urlencoded' };
}

/**
 * The service's own `message` or `error` (upstream-api.md 6.2), shortened to one line; `detail` may echo the request.
 */
function hintOf({ headers, form, json }: ApiRequest, body: unknown): string {
  if (typeof body !== 'object' || body === null) return '';
  const { message, error } = body as Readonly<Record<string, unknown>>;
  const text = typeof message === 'string' ? message : error;
  if (typeof text !== 'string' || text === '') return '';
  // Masked before it is shortened: part of a key would not be recognized.
  const shown = masked(text.slice(0, 100 * LONGEST_HINT), [headers, form, json]);
  return `: ${printable(shown.slice(0, LONGEST_HINT).replaceAll(/\s+/g, ' '))}`;
}

const LONGEST_HINT = 200;

function toRequestError(request: ApiRequest, thrown: unknown): RequestError {
  if (thrown instanceof RequestError) return thrown;
  const cause = asError(thrown);
  return new RequestError('network', `${nameOf(request)} got no answer: ${connectionFault(cause)}`, { cause });
}
