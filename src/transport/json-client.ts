import type { IncomingHttpHeaders } from 'node:http';
import type { LimitFunction } from 'p-limit';
import { policyForCode } from '../runtime/error-policy.ts';
import { asError, RequestError, SchemaError } from '../runtime/errors.ts';
import { maskSecrets } from '../runtime/masking.ts';
import { printable } from '../runtime/printable.ts';
import { type AllowedRequest, assertAllowed, type Method } from './allowed-request.ts';
import { type AttemptDependencies, sendOnce } from './attempt.ts';
import { describeConnectionError } from './connection-errors.ts';
import { parseHttpDate } from './http-date.ts';
import type { RateFeedback, SentRequest } from './rate/rate-limiter.ts';
import type { RequestQueue } from './rate/request-queue.ts';
import { ThrottledAppliances } from './rate/throttled-appliances.ts';
import { readJson } from './read-json.ts';
import type { AnswerSize, ResponseLimits } from './response-limits.ts';
import { retryAfterMs } from './retry-after.ts';
import { ServiceClock } from './service-clock.ts';

export interface ServiceRequest {
  readonly method: Method;
  /** Begins with `/`; the segments are already encoded. */
  readonly path: string;
  readonly operation: string;
  /** The size of its answer; default `one`. */
  readonly size?: AnswerSize;
  readonly query?: Readonly<Record<string, string>>;
  readonly headers?: Readonly<Record<string, string>>;
  /** Evaluated when the request leaves: the token may have been renewed while it waited. */
  readonly authorization?: () => string;
  readonly json?: unknown;
  readonly form?: Readonly<Record<string, string>>;
  /** Throws a ShapeError if the body of a 2xx answer does not fit this request, which then counts as `invalid`. */
  readonly validate?: (body: unknown) => unknown;
  /** What a 429 may be about alone: the appliance. */
  readonly throttleKey?: string;
  /** It decides what else is polled, or was answered 429: at tight limits it waits behind no series. */
  readonly priority?: boolean;
}

/** One request and its answer, for the doctor. Contains secrets and names, so it must not be printed as it is. */
export interface Exchange {
  readonly operation: string;
  readonly status: number | undefined;
  readonly headers: IncomingHttpHeaders;
  /** When the headers of the answer arrived, in epoch milliseconds. */
  readonly answeredAt: number;
  readonly seconds: number;
  /** Of the answer's body as sent, compressed or not. */
  readonly bytes: number;
  readonly body: unknown;
}

export interface RequestObserver {
  onStart?(operation: string): void;
  /** `code`: the HTTP status, or why there was no usable answer. */
  onEnd?(operation: string, code: string, seconds: number): void;
  onThrottle?(): void;
  onExchange?(exchange: Exchange): void;
}

export interface ClientOptions extends Pick<AttemptDependencies, 'dispatcher' | 'clock' | 'timeoutMs'> {
  /** Without a trailing slash. */
  readonly baseUrl: string;
  readonly userAgent: string;
  readonly pacer: RequestQueue;
  readonly limit: LimitFunction;
  /** Every text that no error may quote. */
  readonly secrets: () => readonly string[];
  readonly observer: RequestObserver;
  readonly allowed: readonly AllowedRequest[];
  readonly limitsOf: (size: AnswerSize) => ResponseLimits;
}

/** One HTTP API: every request is checked against the allowed ones, counted, paced, limited in time and size, sent once. */
export class JsonClient {
  readonly #settings: ClientOptions;
  readonly #base: URL;
  readonly #throttled = new ThrottledAppliances();
  readonly serviceClock: ServiceClock;

  constructor(settings: ClientOptions) {
    this.#settings = settings;
    this.#base = new URL(settings.baseUrl);
    this.serviceClock = new ServiceClock(settings.clock);
  }

  /** The longest that a request is under way, in milliseconds. */
  get timeoutMs(): number {
    return this.#settings.timeoutMs;
  }

  /** The time of the service by its measured clock, in epoch milliseconds. */
  now(): number {
    return this.serviceClock.now();
  }

  /**
   * Resolves with the parsed body of a 2xx answer. Rejects with a RequestError for every other answer, or with what `check`
   * throws. A 429 delays every later request of this API, or those of its subject once that alone is answered 429.
   */
  send(request: ServiceRequest, signal: AbortSignal): Promise<unknown> {
    assertAllowed(request, this.#settings.allowed);
    return this.#sendInTurn(request, signal);
  }

  /** The request rate comes first: requests that wait for it must take no slot of one that has priority. */
  async #sendInTurn(request: ServiceRequest, signal: AbortSignal): Promise<unknown> {
    const { pacer, clock, limit } = this.#settings;
    const heldMs = this.#throttled.remainingWaitMs(request.throttleKey, clock.monotonic());
    if (heldMs !== undefined) {
      const why = `only this appliance is answered 429, and waits for ${Math.ceil(heldMs / 1000)} s more`;
      throw new RequestError('status', `${nameOf(request)} was not sent: ${why}`, { status: 429 });
    }
    const departure = await pacer.acquire(signal, request.priority);
    if (departure === undefined)
      throw new RequestError('aborted', `${nameOf(request)} was not sent: the exporter is stopping`);
    return limit(() => this.#sendNow(request, departure, signal));
  }

  async #sendNow(request: ServiceRequest, departure: SentRequest, signal: AbortSignal): Promise<unknown> {
    const { pacer, clock, observer } = this.#settings;
    const { operation } = request;
    const authorization = request.authorization?.();
    const departing =
      authorization === undefined ? request : { ...request, headers: { ...request.headers, authorization } };
    observer.onStart?.(operation);
    const started = clock.monotonic();
    let code = '200';
    let acceptance: RateFeedback = { state: 'unknown' };
    const answer: Answer = { status: undefined, headers: {}, answeredAt: 0, bytes: 0, body: undefined };
    try {
      const status = await this.#attempt(departing, answer, signal);
      code = String(status);
      acceptance = this.#acceptanceOf(request, answer, started);
      if (!isSuccess(status)) {
        const hint = hintOf(departing, answer.body, this.#settings.secrets());
        throw new RequestError('status', `${nameOf(request)} was answered ${status}${hint}`, { status });
      }
      request.validate?.(answer.body);
      return answer.body;
    } catch (thrown) {
      const error = thrown instanceof SchemaError ? thrown : toRequestError(request, thrown);
      code = error instanceof SchemaError ? 'invalid' : error.code;
      throw error;
    } finally {
      pacer.ended(departure, acceptance);
      if (policyForCode(code, 'read').action === 'wait') observer.onThrottle?.();
      const seconds = (clock.monotonic() - started) / 1000;
      observer.onEnd?.(operation, code, seconds);
      observer.onExchange?.({ ...answer, operation, seconds });
    }
  }

  #acceptanceOf({ throttleKey }: ServiceRequest, answer: Answer, startedAt: number): RateFeedback {
    if (policyForCode(String(answer.status), 'read').action !== 'wait') {
      this.#throttled.taken(throttleKey, startedAt);
      return { state: 'taken' };
    }
    const { headers } = answer;
    const waitMs = retryAfterMs(first(headers['retry-after']), first(headers.date), this.now());
    const isLone = this.#throttled.recordThrottle(throttleKey, startedAt, this.#settings.clock.monotonic(), waitMs);
    return isLone ? { state: 'unknown' } : { state: 'throttled', retryAfterMs: waitMs };
  }

  #attempt(request: ServiceRequest, answer: Answer, signal: AbortSignal): Promise<number> {
    const { clock, limitsOf, userAgent } = this.#settings;
    const { body, type } = payloadOf(request);
    const place = nameOf(request);
    return sendOnce(
      {
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
      },
      async (arrived) => {
        answer.status = arrived.statusCode;
        answer.headers = arrived.headers;
        answer.answeredAt = clock.now();
        const date = parseHttpDate(first(arrived.headers.date), clock.now());
        if (isSuccess(arrived.statusCode) && date !== undefined) this.serviceClock.addSample(date);
        answer.body = await readJson(arrived, {
          limits: limitsOf(request.size ?? 'one'),
          lenient: !isSuccess(arrived.statusCode),
          place,
          clock,
          sent: answer,
        });
        return arrived.statusCode;
      },
      { ...this.#settings, signal, place },
    );
  }
}

type Answer = { -readonly [Name in keyof Omit<Exchange, 'operation' | 'seconds'>]: Exchange[Name] };

function isSuccess(status: number): boolean {
  return status >= 200 && status <= 299;
}

function nameOf(request: ServiceRequest): string {
  return `${request.method} ${request.path}`;
}

function queryOf({ query }: ServiceRequest): string {
  const text = String(new URLSearchParams(query));
  return text === '' ? '' : `?${text}`;
}

function first(header: string | string[] | undefined): string | undefined {
  return Array.isArray(header) ? header[0] : header;
}

function payloadOf(request: ServiceRequest): { readonly body?: string; readonly type?: string } {
  if (request.json !== undefined) return { body: JSON.stringify(request.json), type: 'application/json' };
  if (request.form === undefined) return {};
  return { body: String(new URLSearchParams(request.form)), type: 'application/x-www-form-urlencoded' };
}

/** The service's own `message` or `error` in one line; `detail` may echo the request. */
function hintOf({ headers, form, json }: ServiceRequest, body: unknown, secrets: readonly string[]): string {
  if (typeof body !== 'object' || body === null) return '';
  const { message, error } = body as Readonly<Record<string, unknown>>;
  const text = typeof message === 'string' ? message : error;
  if (typeof text !== 'string' || text === '') return '';
  // Masked before it is shortened: part of a key would not be recognized.
  const shown = maskSecrets(text, [headers, form, json, secrets]);
  return `: ${printable(shown.slice(0, MAX_HINT).replaceAll(/\s+/g, ' '))}`;
}

const MAX_HINT = 200;

function toRequestError(request: ServiceRequest, thrown: unknown): RequestError {
  if (thrown instanceof RequestError) return thrown;
  const cause = asError(thrown);
  return new RequestError('network', `${nameOf(request)} got no answer: ${describeConnectionError(cause)}`, { cause });
}
