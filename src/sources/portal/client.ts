import { asError, CredentialError } from '../../runtime/errors.ts';
import { meaningOfError } from '../../runtime/statuses.ts';
import type { ApiRequest, JsonClient } from '../../transport/client.ts';
import type { Priority } from '../../transport/rate/pacer.ts';
import { RetryAllowance, type RetryParts, withRetries } from '../../transport/retry.ts';
import type { TokenSource } from './token.ts';

/** How many rejected requests are remembered; above it all are forgotten, and each costs one more new token. */
const MOST_REJECTED = 10_000;

/** The portal with its token: adds it to each request, and after a 401 retries once with a new one. */
export class PortalClient {
  readonly #client: JsonClient;
  readonly #tokens: TokenSource;
  readonly #retryParts: RetryParts;
  #proven: string | undefined;
  /**
   * A token that replaced a proven one, and was rejected for a request for which the proven one was rejected too: valid
   * until other requests show otherwise.
   */
  #replacement: string | undefined;
  /** Requests rejected with 401 with a proven token and its successor: method and path. */
  readonly #rejected = new Set<string>();

  constructor(client: JsonClient, tokens: TokenSource, retryParts: RetryParts) {
    this.#client = client;
    this.#tokens = tokens;
    this.#retryParts = { ...retryParts, allowance: new RetryAllowance() };
  }

  now(): number {
    return this.#client.now();
  }

  /**
   * Sends a request, with retries, and returns the parsed body. A 401 with a new token too is a CredentialError,
   * because the token is not the cause. If the previous token worked for other requests, only this request fails.
   */
  send(request: ApiRequest, signal: AbortSignal): Promise<unknown> {
    return this.#retried((attempt) => this.#withToken(attempt, signal), request, signal);
  }

  /** Sends a request without the token, and with it if the portal requires it. */
  async sendOpen(request: ApiRequest, signal: AbortSignal): Promise<unknown> {
    try {
      return await this.#retried((attempt) => this.#client.send(attempt, signal), request, signal);
    } catch (error) {
      if (isTokenRejected(error)) return this.send(request, signal);
      throw error;
    }
  }

  #retried(
    send: (attempt: ApiRequest) => Promise<unknown>,
    request: ApiRequest,
    signal: AbortSignal,
  ): Promise<unknown> {
    const ask = (priority?: Priority) => send({ ...request, priority: priority ?? request.priority });
    return withRetries(ask, 'read', { ...this.#retryParts, request: nameOf(request) }, signal);
  }

  async #withToken(request: ApiRequest, signal: AbortSignal): Promise<unknown> {
    const name = nameOf(request);
    const first = await this.#authorized(request, signal);
    if (first.rejection === undefined) {
      this.#rejected.delete(name);
      return first.body;
    }
    // A token that works for other requests is not dropped again for a request that is rejected with every token.
    if (first.access === this.#proven && this.#rejected.has(name)) throw first.rejection;
    this.#tokens.reject(first.access);
    const second = await this.#authorized(request, signal);
    if (second.rejection === undefined) return second.body;
    const cause = second.rejection;
    if (first.access !== this.#proven && first.access !== this.#replacement) {
      throw new CredentialError(`${cause.message}, also with a new token`, { cause });
    }
    this.#replacement = second.access;
    if (this.#rejected.size >= MOST_REJECTED) this.#rejected.clear();
    this.#rejected.add(name);
    throw cause;
  }

  async #authorized(request: ApiRequest, signal: AbortSignal): Promise<Authorized> {
    let access = await this.#tokens.get(signal);
    const authorization = () => {
      access = this.#tokens.atHand ?? access;
      return `Bearer ${access}`;
    };
    try {
      const body = await this.#client.send({ ...request, authorization }, signal);
      this.#proven = access;
      return { access, body };
    } catch (error) {
      if (!isTokenRejected(error)) throw error;
      return { access, rejection: asError(error) };
    }
  }
}

function isTokenRejected(error: unknown): boolean {
  return meaningOfError(error, 'read').does === 'renew';
}

function nameOf({ method, path }: ApiRequest): string {
  return `${method} ${path}`;
}

/** What a request with this token came to: a body, or 401. */
interface Authorized {
  readonly access: string;
  readonly body?: unknown;
  readonly rejection?: Error;
}
