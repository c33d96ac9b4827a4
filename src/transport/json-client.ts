import type { IncomingHttpHeaders } from 'node:http';
import { ForbiddenRequestError, RequestError, type RequestPurpose, SchemaError } from '../runtime/errors.ts';
import { meaningOf } from '../runtime/failures.ts';
import { createMasker, shownWords } from '../runtime/masking.ts';
import { connectionError } from './connection-errors.ts';
import type { Attempt, ServiceLimits } from './rate/limits.ts';
import { parseHttpDate, retryAfterMs } from './rate/retry-after.ts';
import { isWebPage, type ResponseLimits, readErrorBody, readJson } from './response-body.ts';
import { type SendingOptions, sendOnce } from './send-once.ts';
import { ServiceClock } from './service-clock.ts';

type Method = 'GET' | 'POST' | 'DELETE';

/** A request other than GET that reads, or that concerns the session only. */
export interface AllowedRequest {
  readonly method: Exclude<Method, 'GET'>;
  readonly path: RegExp;
}

export interface ServiceRequest<Result = unknown> {
  readonly method: Method;
  /** Begins with `/`; the segments are already encoded. */
  readonly path: string;
  readonly operation: string;
  /** Default `read`. */
  readonly purpose?: RequestPurpose;
  readonly query?: Readonly<Record<string, string>>;
  readonly headers?: Readonly<Record<string, string>>;
  /** Called each time that the request is sent, because the token may have been renewed while the request waited. */
  readonly authorization?: () => string;
  readonly json?: unknown;
  readonly form?: Readonly<Record<string, string>>;
  /**
   * Reads the body of a 2xx response; default: the body itself. Throws a SchemaError if it does not match the schema; the
   * request then counts as `invalid`.
   */
  readonly read?: (body: unknown) => Result;
  /** The serial of the appliance that the request is about, because a service may return 429 for one appliance alone. */
  readonly throttleKey?: string;
  /** True for requests that decide what else is polled: they overtake all other waiting requests. */
  readonly priority?: boolean;
  /** True for a request that must not be sent twice, whatever its purpose: its token or its events would be used up. */
  readonly onlyOnce?: true;
}

/** One request and what came of it. It contains secrets and names, so it must not be printed unmasked. */
export interface Exchange {
  readonly operation: string;
  /** The HTTP status, or the reason why there was no usable response. */
  readonly code: string;
  /** Undefined if the request succeeded. */
  readonly error: Error | undefined;
  readonly status: number | undefined;
  readonly headers: IncomingHttpHeaders;
  /** When the headers of the response arrived, in epoch milliseconds. */
  readonly respondedAt: number;
  readonly seconds: number;
  /** The size of the body as it was sent, compressed or not. */
  readonly bytes: number;
  readonly body: unknown;
}

export interface ClientOptions extends Pick<SendingOptions, 'dispatcher' | 'clock' | 'timeoutMs'> {
  /** Without a trailing slash. */
  readonly baseUrl: string;
  readonly userAgent: string;
  readonly limits: ServiceLimits;
  readonly responseLimits: ResponseLimits;
  readonly allowed: readonly AllowedRequest[];
  /** Returns every string that no error may quote. */
  readonly secrets: () => readonly string[];
  /** Called after each request that was sent, also after those that are sent again. */
  readonly onEnd: (exchange: Exchange) => void;
}

/** The client of one service: it turns responses into values and errors. `ServiceLimits` decides when a request is sent. */
export class JsonClient {
  readonly #options: ClientOptions;
  readonly #base: URL;
  readonly serviceClock: ServiceClock;

  constructor(options: ClientOptions) {
    this.#options = options;
    this.#base = new URL(options.baseUrl);
    this.serviceClock = new ServiceClock(options.clock);
  }

  /**
   * Resolves with what `read` makes of a 2xx response. Rejects with a RequestError for every other response, with the error
   * of `read`, or with a PostponedError if the request has to wait because of its appliance.
   */
  async send<Result>(request: ServiceRequest<Result>, signal: AbortSignal): Promise<Result> {
    const { limits } = this.#options;
    this.#assertReadOnly(request);
    const sender = { key: request.throttleKey, hasPriority: request.priority };
    try {
      return await limits.send(() => this.#attempt(request, signal), sender, signal);
    } catch (thrown) {
      if (thrown !== signal.reason) throw thrown;
      throw new RequestError('aborted', `${nameOf(request)} was not sent: the exporter is stopping`);
    }
  }

  /** Every request passes here, so that the program changes nothing in a service. */
  #assertReadOnly({ method, path }: ServiceRequest): void {
    const { allowed } = this.#options;
    if (method === 'GET' || allowed.some((request) => request.method === method && request.path.test(path))) return;
    throw new ForbiddenRequestError(`${method} ${path} is not sent: the exporter only reads`);
  }

  async #attempt<Result>(request: ServiceRequest<Result>, signal: AbortSignal): Promise<Attempt<Result>> {
    const { clock, onEnd } = this.#options;
    const startedAt = clock.monotonic();
    const response: PartialExchange = { status: undefined, headers: {}, respondedAt: 0, bytes: 0, body: undefined };
    const { value, error } = await this.#exchange(request, response, signal).then(
      (value) => ({ value, error: undefined }),
      (thrown: unknown) => ({ value: undefined, error: toError(request, thrown) }),
    );
    onEnd({
      ...response,
      operation: request.operation,
      code: error === undefined ? String(response.status) : codeOf(error),
      error,
      seconds: (clock.monotonic() - startedAt) / 1000,
    });
    if (error === undefined) return { state: 'succeeded', value };
    const { action, repeats = 0 } = meaningOf(error);
    const failure = { error, repeats: request.onlyOnce ? 0 : repeats };
    if (action === 'wait') return { state: 'throttled', ...failure, retryAfterMs: this.#retryAfterMs(response) };
    return { state: response.status === undefined ? 'lost' : 'failed', ...failure };
  }

  #retryAfterMs({ headers }: PartialExchange): number | undefined {
    return retryAfterMs(first(headers['retry-after']), first(headers.date), this.serviceClock.now());
  }

  /** Sends the request, and fills in the response while it arrives. Resolves with what `read` makes of it. */
  async #exchange<Result>(
    unauthorized: ServiceRequest<Result>,
    response: PartialExchange,
    signal: AbortSignal,
  ): Promise<Result> {
    const request = authorized(unauthorized);
    const { body, type } = payloadOf(request);
    return await sendOnce(
      {
        origin: this.#base.origin,
        path: `${this.#base.pathname.replace(/\/$/, '')}${request.path}${queryOf(request)}`,
        method: request.method,
        headers: {
          accept: 'application/json',
          'accept-encoding': 'gzip',
          'user-agent': this.#options.userAgent,
          ...(type === undefined ? {} : { 'content-type': type }),
          ...request.headers,
        },
        body: body ?? null,
      },
      async (arrived) => {
        const { clock, responseLimits: limits } = this.#options;
        response.status = arrived.statusCode;
        response.headers = arrived.headers;
        response.respondedAt = clock.now();
        const options = { limits, requestName: nameOf(request), received: response };
        if (!isSuccess(arrived.statusCode)) {
          response.body = await readErrorBody(arrived, options);
          throw this.#statusError(request, arrived.statusCode, response);
        }
        const date = parseHttpDate(first(arrived.headers.date));
        if (date !== undefined) this.serviceClock.addSample(date);
        response.body = await readJson(arrived, options);
        return request.read === undefined ? (response.body as Result) : request.read(response.body);
      },
      { ...this.#options, signal, requestName: nameOf(request) },
    );
  }

  /** Describes a response that is no success by its status, where it leads, and what the service says about it. */
  #statusError(request: ServiceRequest, status: number, { headers, body, bytes }: PartialExchange): RequestError {
    const secrets = [...stringsIn([request.headers, request.form, request.json]), ...this.#options.secrets()];
    const target = status < 400 ? redirectTarget(first(headers.location), this.#base) : undefined;
    if (target !== undefined) {
      const said = createMasker(() => secrets)(target);
      const message = `${nameOf(request)} returned ${status}, a redirect to ${said}`;
      return new RequestError('status', message, { status, problem: 'redirect', said });
    }
    const said = shownWords(messageIn(body), secrets);
    const page = bytes > 0 && isWebPage(headers) ? ' (a web page)' : '';
    const message = `${nameOf(request)} returned ${status}${page}${said === undefined ? '' : `: ${said}`}`;
    return new RequestError('status', message, { status, problem: status < 400 ? 'page' : undefined, said });
  }
}

/** An exchange that is filled in while its response arrives. */
type PartialExchange = {
  -readonly [Name in 'status' | 'headers' | 'respondedAt' | 'bytes' | 'body']: Exchange[Name];
};

function authorized<Result>(request: ServiceRequest<Result>): ServiceRequest<Result> {
  const authorization = request.authorization?.();
  return authorization === undefined ? request : { ...request, headers: { ...request.headers, authorization } };
}

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

function stringsIn(sent: unknown): readonly string[] {
  if (typeof sent === 'string') return [sent];
  return typeof sent === 'object' && sent !== null ? Object.values(sent).flatMap(stringsIn) : [];
}

/** The `message` or `error` of a failed response. Its `detail` is left out: it may echo the request. */
function messageIn(body: unknown): string | undefined {
  if (typeof body !== 'object' || body === null) return undefined;
  const { message, error } = body as Readonly<Record<string, unknown>>;
  const text = typeof message === 'string' ? message : error;
  return typeof text === 'string' && text !== '' ? text : undefined;
}

/** Scheme, host and port of a redirect to another address. Its path is left out: it may echo the request. */
function redirectTarget(location: string | undefined, base: URL): string | undefined {
  if (location === undefined || !URL.canParse(location, base.href)) return undefined;
  const { origin } = new URL(location, base);
  return origin === base.origin || origin === 'null' ? undefined : origin;
}

function codeOf(error: Error): string {
  return error instanceof RequestError ? error.code : 'invalid';
}

function toError(request: ServiceRequest, thrown: unknown): Error {
  if (thrown instanceof SchemaError) return thrown;
  // undici throws none: the fault is in `read`, whatever the service sent.
  if (thrown instanceof TypeError || thrown instanceof RangeError)
    return new SchemaError(`${nameOf(request)}: the response cannot be read: ${thrown.message}`, { cause: thrown });
  const error = connectionError(nameOf(request), thrown);
  error.purpose = request.purpose ?? 'read';
  return error;
}
