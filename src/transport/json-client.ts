import type { IncomingHttpHeaders } from 'node:http';
import type { LimitFunction } from 'p-limit';
import { asError, RequestError, type RequestPurpose, SchemaError } from '../runtime/errors.ts';
import { maskSecrets } from '../runtime/masking.ts';
import { printable } from '../runtime/printable.ts';
import { type AllowedRequest, assertAllowed, type Method } from './allowed-request.ts';
import { type AttemptDependencies, sendOnce } from './attempt.ts';
import { describeConnectionError } from './connection-errors.ts';
import { parseHttpDate } from './http-date.ts';
import type { RateFeedback, SentRequest } from './rate/rate-limiter.ts';
import type { RequestQueue } from './rate/request-queue.ts';
import { ThrottledAppliances } from './rate/throttled-appliances.ts';
import { isWebPage, readJson } from './read-json.ts';
import type { ResponseLimits, ResponseSize } from './response-limits.ts';
import { retryAfterMs } from './retry-after.ts';
import { ServiceClock } from './service-clock.ts';

export interface ServiceRequest {
  readonly method: Method;
  /** Begins with `/`; the segments are already encoded. */
  readonly path: string;
  readonly operation: string;
  /** Default `read`. */
  readonly purpose?: RequestPurpose;
  /** The expected size of its response; `object` by default. */
  readonly size?: ResponseSize;
  readonly query?: Readonly<Record<string, string>>;
  readonly headers?: Readonly<Record<string, string>>;
  /** Called when the request is sent, because the token may have been renewed while the request waited. */
  readonly authorization?: () => string;
  readonly json?: unknown;
  readonly form?: Readonly<Record<string, string>>;
  /** Throws a SchemaError if the body of a 2xx response does not match the schema; the request then counts as `invalid`. */
  readonly validate?: (body: unknown) => unknown;
  /** The serial of the appliance that the request is about, because a service may return 429 for one appliance alone. */
  readonly throttleKey?: string;
  /** True for requests that decide what else is polled, or that returned 429: they overtake all other waiting requests. */
  readonly priority?: boolean;
}

/** One request and its response, for the doctor. It contains secrets and names, so it must not be printed unmasked. */
export interface Exchange {
  readonly operation: string;
  readonly status: number | undefined;
  readonly headers: IncomingHttpHeaders;
  /** When the headers of the response arrived, in epoch milliseconds. */
  readonly respondedAt: number;
  readonly seconds: number;
  /** The size of the body as it was sent, compressed or not. */
  readonly bytes: number;
  readonly body: unknown;
}

export interface RequestObserver {
  onStart?(operation: string): void;
  /** `code` is the HTTP status, or the reason why there was no usable response. */
  onEnd?(operation: string, code: string, seconds: number): void;
  onThrottle?(): void;
  onExchange?(exchange: Exchange): void;
}

export interface ClientOptions extends Pick<AttemptDependencies, 'dispatcher' | 'clock' | 'timeoutMs'> {
  /** Without a trailing slash. */
  readonly baseUrl: string;
  readonly userAgent: string;
  readonly requestQueue: RequestQueue;
  readonly limit: LimitFunction;
  /** Returns every string that no error may quote. */
  readonly secrets: () => readonly string[];
  readonly observer: RequestObserver;
  readonly allowed: readonly AllowedRequest[];
  readonly limitsOf: (size: ResponseSize) => ResponseLimits;
}

/** The client of one service. It sends each allowed request once, at the allowed rate, and limits its time and size. */
export class JsonClient {
  readonly #options: ClientOptions;
  readonly #base: URL;
  readonly #throttledAppliances = new ThrottledAppliances();
  readonly serviceClock: ServiceClock;

  constructor(options: ClientOptions) {
    this.#options = options;
    this.#base = new URL(options.baseUrl);
    this.serviceClock = new ServiceClock(options.clock);
  }

  /** The longest time from sending a request to its complete response, in milliseconds. */
  get timeoutMs(): number {
    return this.#options.timeoutMs;
  }

  /** The time of the service by its measured clock, in epoch milliseconds. */
  now(): number {
    return this.serviceClock.now();
  }

  /**
   * Resolves with the parsed body of a 2xx response. Rejects with a RequestError for every other response, or with the error
   * of `validate`. A 429 delays all later requests, or only those with the same `throttleKey` if other requests succeed.
   */
  send(request: ServiceRequest, signal: AbortSignal): Promise<unknown> {
    assertAllowed(request, this.#options.allowed);
    return this.#sendAtRate(request, signal);
  }

  /** Waits for the request rate before the slot: a request that waits must not occupy the slot of one with priority. */
  async #sendAtRate(request: ServiceRequest, signal: AbortSignal): Promise<unknown> {
    const { requestQueue, clock, limit } = this.#options;
    const waitMs = this.#throttledAppliances.remainingWaitMs(request.throttleKey, clock.monotonic());
    if (waitMs !== undefined) {
      const why = `the service returns 429 for this appliance alone; its next request waits for ${Math.ceil(waitMs / 1000)} s`;
      throw new RequestError('status', `${nameOf(request)} was not sent: ${why}`, { status: 429 });
    }
    const sentRequest = await requestQueue.acquire(signal, request.priority);
    if (sentRequest === undefined)
      throw new RequestError('aborted', `${nameOf(request)} was not sent: the exporter is stopping`);
    return limit(() => this.#sendNow(request, sentRequest, signal));
  }

  async #sendNow(request: ServiceRequest, sentRequest: SentRequest, signal: AbortSignal): Promise<unknown> {
    const { requestQueue, clock, observer } = this.#options;
    const { operation, purpose = 'read' } = request;
    const authorization = request.authorization?.();
    const authorized =
      authorization === undefined ? request : { ...request, headers: { ...request.headers, authorization } };
    observer.onStart?.(operation);
    const startedAt = clock.monotonic();
    let code = '200';
    let feedback: RateFeedback = { state: 'unknown' };
    let isThrottled = false;
    const response: PartialExchange = { status: undefined, headers: {}, respondedAt: 0, bytes: 0, body: undefined };
    try {
      const status = await this.#attempt(authorized, response, signal);
      code = String(status);
      isThrottled = status === 429;
      feedback = isThrottled ? this.#throttle(request, response, startedAt) : this.#accept(request, startedAt);
      if (!isSuccess(status)) {
        const said = serviceMessage(authorized, response.body, this.#options.secrets());
        const page = isWebPage(response.headers) ? ' (a web page)' : '';
        const problem = status < 400 ? 'page' : undefined;
        const message = `${nameOf(request)} returned ${status}${page}${said === undefined ? '' : `: ${said}`}`;
        throw new RequestError('status', message, { status, problem, said });
      }
      request.validate?.(response.body);
      return response.body;
    } catch (thrown) {
      const error = thrown instanceof SchemaError ? thrown : toRequestError(request, thrown);
      code = error instanceof SchemaError ? 'invalid' : error.code;
      if (error instanceof RequestError) error.purpose = purpose;
      throw error;
    } finally {
      requestQueue.recordEnd(sentRequest, feedback);
      if (isThrottled) observer.onThrottle?.();
      const seconds = (clock.monotonic() - startedAt) / 1000;
      observer.onEnd?.(operation, code, seconds);
      observer.onExchange?.({ ...response, operation, seconds });
    }
  }

  #accept({ throttleKey }: ServiceRequest, startedAt: number): RateFeedback {
    this.#throttledAppliances.recordAccepted(throttleKey, startedAt);
    return { state: 'accepted' };
  }

  #throttle({ throttleKey }: ServiceRequest, { headers }: PartialExchange, startedAt: number): RateFeedback {
    const waitMs = retryAfterMs(first(headers['retry-after']), first(headers.date), this.now());
    const isOnlyThis = this.#throttledAppliances.recordThrottle(
      throttleKey,
      startedAt,
      this.#options.clock.monotonic(),
      waitMs,
    );
    return isOnlyThis ? { state: 'unknown' } : { state: 'throttled', retryAfterMs: waitMs };
  }

  #attempt(request: ServiceRequest, response: PartialExchange, signal: AbortSignal): Promise<number> {
    const { clock, limitsOf, userAgent } = this.#options;
    const { body, type } = payloadOf(request);
    const requestName = nameOf(request);
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
        response.status = arrived.statusCode;
        response.headers = arrived.headers;
        response.respondedAt = clock.now();
        const date = parseHttpDate(first(arrived.headers.date), clock.now());
        if (isSuccess(arrived.statusCode) && date !== undefined) this.serviceClock.addSample(date);
        response.body = await readJson(arrived, {
          limits: limitsOf(request.size ?? 'object'),
          lenient: !isSuccess(arrived.statusCode),
          requestName,
          clock,
          received: response,
        });
        return arrived.statusCode;
      },
      { ...this.#options, signal, requestName },
    );
  }
}

/** An exchange that is filled in while its response arrives. */
type PartialExchange = { -readonly [Name in keyof Omit<Exchange, 'operation' | 'seconds'>]: Exchange[Name] };

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

/** Returns the `message` or `error` of a failed response in one line. Its `detail` is left out: it may echo the request. */
function serviceMessage(
  { headers, form, json }: ServiceRequest,
  body: unknown,
  secrets: readonly string[],
): string | undefined {
  if (typeof body !== 'object' || body === null) return undefined;
  const { message, error } = body as Readonly<Record<string, unknown>>;
  const text = typeof message === 'string' ? message : error;
  if (typeof text !== 'string' || text === '') return undefined;
  // The message is masked before it is cut, because part of a key would not be recognized.
  const shown = maskSecrets(text, [headers, form, json, secrets]);
  return printable(shown.slice(0, MAX_MESSAGE).replaceAll(/\s+/g, ' '));
}

const MAX_MESSAGE = 200;

function toRequestError(request: ServiceRequest, thrown: unknown): RequestError {
  if (thrown instanceof RequestError) return thrown;
  const cause = asError(thrown);
  const { text, problem } = describeConnectionError(cause);
  return new RequestError('network', `${nameOf(request)} got no response: ${text}`, { cause, problem });
}
