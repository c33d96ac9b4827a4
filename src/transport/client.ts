import type { IncomingHttpHeaders } from 'node:http';
import type { LimitFunction } from 'p-limit';
import { asError, RequestError, ShapeError } from '../runtime/errors.ts';
import { maskSecrets } from '../runtime/masking.ts';
import { printable } from '../runtime/printable.ts';
import { meaningOf } from '../runtime/statuses.ts';
import { type AllowedRequests, assertAllowed, type Method } from './allowed.ts';
import type { AnswerLimits, AnswerSize } from './answer-limits.ts';
import { type AttemptParts, attempt } from './attempt.ts';
import { readJson } from './body.ts';
import { connectionFault } from './connection-faults.ts';
import type { Acceptance, Departure } from './rate/pace.ts';
import type { Pacer } from './rate/pacer.ts';
import { ThrottledAppliances } from './rate/throttled-appliances.ts';
import { retryAfterMs } from './retry-after.ts';
import { ServiceClock } from './service-clock.ts';

export interface ApiRequest {
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
  readonly check?: (body: unknown) => unknown;
  /** What a 429 may be about alone: the appliance. */
  readonly subject?: string;
  /** It decides what else is polled, or was answered 429: at tight limits it waits behind no series. */
  readonly ahead?: boolean;
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
  started?(operation: string): void;
  /** `code`: the HTTP status, or why there was no usable answer. */
  ended?(operation: string, code: string, seconds: number): void;
  throttled?(): void;
  exchanged?(exchange: Exchange): void;
}

export interface ClientSettings extends Pick<AttemptParts, 'dispatcher' | 'clock' | 'timeoutMs'> {
  /** Without a trailing slash. */
  readonly baseUrl: string;
  readonly userAgent: string;
  readonly pacer: Pacer;
  readonly limit: LimitFunction;
  /** Every text that no error may quote. */
  readonly secrets: () => readonly string[];
  readonly observer: RequestObserver;
  readonly allowed: readonly AllowedRequests[];
  readonly limitsOf: (size: AnswerSize) => AnswerLimits;
}

/** One HTTP API: every request is checked against the allowed ones, counted, paced, limited in time and size, sent once. */
export class JsonClient {
  readonly #settings: ClientSettings;
  readonly #base: URL;
  readonly #throttled = new ThrottledAppliances();
  readonly serviceClock: ServiceClock;

  constructor(settings: ClientSettings) {
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
  send(request: ApiRequest, signal: AbortSignal): Promise<unknown> {
    assertAllowed(request, this.#settings.allowed);
    return this.#sendInTurn(request, signal);
  }

  /** The request rate comes first: requests that wait for it must take no slot of one that has priority. */
  async #sendInTurn(request: ApiRequest, signal: AbortSignal): Promise<unknown> {
    const { pacer, clock, limit } = this.#settings;
    const heldMs = this.#throttled.heldMs(request.subject, clock.monotonic());
    if (heldMs !== undefined) {
      const why = `only this appliance is answered 429, and waits for ${Math.ceil(heldMs / 1000)} s more`;
      throw new RequestError('status', `${nameOf(request)} was not sent: ${why}`, { status: 429 });
    }
    const departure = await pacer.departure(signal, request.ahead);
    if (departure === undefined)
      throw new RequestError('aborted', `${nameOf(request)} was not sent: the exporter is stopping`);
    return limit(() => this.#sendNow(request, departure, signal));
  }

  async #sendNow(request: ApiRequest, departure: Departure, signal: AbortSignal): Promise<unknown> {
    const { pacer, clock, observer } = this.#settings;
    const { operation } = request;
    const authorization = request.authorization?.();
    const departing =
      authorization === undefined ? request : { ...request, headers: { ...request.headers, authorization } };
    observer.started?.(operation);
    const started = clock.monotonic();
    let code = '200';
    let acceptance: Acceptance = { state: 'unknown' };
    const answer: Answer = { status: undefined, headers: {}, answeredAt: 0, bytes: 0, body: undefined };
    try {
      const status = await this.#attempt(departing, answer, signal);
      code = String(status);
      acceptance = this.#acceptanceOf(request, answer, started);
      if (!isSuccess(status)) {
        const hint = hintOf(departing, answer.body, this.#settings.secrets());
        throw new RequestError('status', `${nameOf(request)} was answered ${status}${hint}`, { status });
      }
      request.check?.(answer.body);
      return answer.body;
    } catch (thrown) {
      const error = thrown instanceof ShapeError ? thrown : toRequestError(request, thrown);
      code = error instanceof ShapeError ? 'invalid' : error.code;
      throw error;
    } finally {
      pacer.ended(departure, acceptance);
      if (meaningOf(code, 'read').does === 'hold') observer.throttled?.();
      const seconds = (clock.monotonic() - started) / 1000;
      observer.ended?.(operation, code, seconds);
      observer.exchanged?.({ ...answer, operation, seconds });
    }
  }

  #acceptanceOf({ subject }: ApiRequest, answer: Answer, startedAt: number): Acceptance {
    if (meaningOf(String(answer.status), 'read').does !== 'hold') {
      this.#throttled.taken(subject, startedAt);
      return { state: 'taken' };
    }
    const { headers } = answer;
    const waitMs = retryAfterMs(first(headers['retry-after']), first(headers.date), this.now());
    const isLone = this.#throttled.throttled(subject, startedAt, this.#settings.clock.monotonic(), waitMs);
    return isLone ? { state: 'unknown' } : { state: 'throttled', retryAfterMs: waitMs };
  }

  #attempt(request: ApiRequest, answer: Answer, signal: AbortSignal): Promise<number> {
    const { clock, limitsOf, userAgent } = this.#settings;
    const { body, type } = payloadOf(request);
    const place = nameOf(request);
    return attempt(
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
        const date = Date.parse(first(arrived.headers.date) ?? '');
        if (isSuccess(arrived.statusCode) && !Number.isNaN(date)) this.serviceClock.addSample(date);
        answer.body = await readJson(arrived, {
          ...{ limits: limitsOf(request.size ?? 'one'), lenient: !isSuccess(arrived.statusCode) },
          ...{ place, clock, sent: answer },
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

/** The service's own `message` or `error` in one line; `detail` may echo the request. */
function hintOf({ headers, form, json }: ApiRequest, body: unknown, secrets: readonly string[]): string {
  if (typeof body !== 'object' || body === null) return '';
  const { message, error } = body as Readonly<Record<string, unknown>>;
  const text = typeof message === 'string' ? message : error;
  if (typeof text !== 'string' || text === '') return '';
  // Masked before it is shortened: part of a key would not be recognized.
  const shown = maskSecrets(text, [headers, form, json, secrets]);
  return `: ${printable(shown.slice(0, LONGEST_HINT).replaceAll(/\s+/g, ' '))}`;
}

const LONGEST_HINT = 200;

function toRequestError(request: ApiRequest, thrown: unknown): RequestError {
  if (thrown instanceof RequestError) return thrown;
  const cause = asError(thrown);
  return new RequestError('network', `${nameOf(request)} got no answer: ${connectionFault(cause)}`, { cause });
}
