import { CredentialError, RequestError } from '../../runtime/errors.ts';
import type { ApiRequest, JsonClient } from '../../transport/client.ts';
import { type Patience, RetryAllowance, withRetries } from '../../transport/retry.ts';
import { portalRetries } from './requests.ts';
import type { TokenSource } from './token.ts';

/** So many requests are remembered as refused; beyond that they are forgotten, and cost a new token each once more. */
const MOST_REFUSED = 10_000;

/** The portal with its token: adds it to each request, and asks once more with a new one after a 401. */
export class PortalClient {
  readonly #client: JsonClient;
  readonly #tokens: TokenSource;
  readonly #patience: Patience;
  /** The token with which a request last succeeded. */
  #proven: string | undefined;
  /** A token that came in the place of a proven one, and was refused where that was: good until others say otherwise. */
  #heir: string | undefined;
  /** What was answered 401 with a proven token and with its heir: method and path. */
  readonly #refused = new Set<string>();

  constructor(client: JsonClient, tokens: TokenSource, patience: Patience) {
    this.#client = client;
    this.#tokens = tokens;
    this.#patience = { ...patience, allowance: new RetryAllowance() };
  }

  /**
   * Sends a request, again where upstream-api.md 6.3 says so, and gives the parsed body. A 401 with a new token too is a
   * CredentialError: it is not the token that is wrong. But not where the token before was good for other requests: then
   * it is this request alone.
   */
  send(request: ApiRequest, signal: AbortSignal): Promise<unknown> {
    return withRetries(
      (again) => this.#withToken({ ...request, again }, signal),
      portalRetries,
      this.#patience,
      signal,
    );
  }

  /** Sends a request without a token, for what asks for none. */
  sendOpen(request: ApiRequest, signal: AbortSignal): Promise<unknown> {
    return withRetries(
      (again) => this.#client.send({ ...request, again }, signal),
      portalRetries,
      this.#patience,
      signal,
    );
  }

  async #withToken(request: ApiRequest, signal: AbortSignal): Promise<unknown> {
    const name = `${request.method} ${request.path}`;
    const first = await this.#authorized(request, signal);
    if (first.refusal === undefined) {
      this.#refused.delete(name);
      return first.body;
    }
    // A token that is good for others is not given up again for what no token is good for.
    if (first.access === this.#proven && this.#refused.has(name)) throw first.refusal;
    this.#tokens.reject(first.access);
    const second = await this.#authorized(request, signal);
    if (second.refusal === undefined) return second.body;
    const cause = second.refusal;
    if (first.access !== this.#proven && first.access !== this.#heir) {
      throw new CredentialError(`${cause.message}, with a new token as well`, { cause });
    }
    this.#heir = second.access;
    this.#remember(name);
    throw cause;
  }

  #remember(name: string): void {
    if (this.#refused.size >= MOST_REFUSED) this.#refused.clear();
    this.#refused.add(name);
  }

  /** Sends it with the token that is at hand as it leaves. */
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
      if (!isRefused(error)) throw error;
      return { access, refusal: error };
    }
  }
}

/** The token that a request was sent with, and what came: a body, or 401. */
interface Authorized {
  readonly access: string;
  readonly body?: unknown;
  readonly refusal?: RequestError;
}

function isRefused(error: unknown): error is RequestError {
  return error instanceof RequestError && error.status === 401;
}
