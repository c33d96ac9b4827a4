import { CredentialError, RequestError } from '../../runtime/errors.ts';
import type { ApiRequest, JsonClient } from '../../transport/client.ts';
import { type Patience, seriesRetries, withRetries } from '../../transport/retry.ts';
import type { TokenSource } from './token.ts';

/** The portal with its token: adds it to each request, and asks once more with a new one after a 401. */
export class PortalClient {
  readonly #client: JsonClient;
  readonly #tokens: TokenSource;
  readonly #patience: Patience;
  /** The token with which a request last succeeded. */
  #proven: string | undefined;

  constructor(client: JsonClient, tokens: TokenSource, patience: Patience) {
    this.#client = client;
    this.#tokens = tokens;
    this.#patience = patience;
  }

  /**
   * Sends a request, again where upstream-api.md 6.3 says so, and gives the parsed body. A 401 with a new token too is a
   * CredentialError: it is not the token that is wrong. But not where the token before was good for other requests: then
   * it is this request alone.
   */
  send(request: ApiRequest, signal: AbortSignal): Promise<unknown> {
    return withRetries(
      (again) => this.#withToken({ ...request, again }, signal),
      seriesRetries,
      this.#patience,
      signal,
    );
  }

  /** Sends a request without a token, for what asks for none. */
  sendOpen(request: ApiRequest, signal: AbortSignal): Promise<unknown> {
    return withRetries(
      (again) => this.#client.send({ ...request, again }, signal),
      seriesRetries,
      this.#patience,
      signal,
    );
  }

  async #withToken(request: ApiRequest, signal: AbortSignal): Promise<unknown> {
    const access = await this.#tokens.get(signal);
    const isProven = access === this.#proven;
    try {
      return await this.#authorized(request, access, signal);
    } catch (error) {
      if (!isRefused(error)) throw error;
    }
    this.#tokens.reject(access);
    try {
      return await this.#authorized(request, await this.#tokens.get(signal), signal);
    } catch (cause) {
      if (!isRefused(cause) || isProven) throw cause;
      throw new CredentialError(`${cause.message}, with a new token as well`, { cause });
    }
  }

  async #authorized(request: ApiRequest, access: string, signal: AbortSignal): Promise<unknown> {
    const headers = { ...request.headers, authorization: `Bearer ${access}` };
    const body = await this.#client.send({ ...request, headers }, signal);
    this.#proven = access;
    return body;
  }
}

function isRefused(error: unknown): error is RequestError {
  return error instanceof RequestError && error.status === 401;
}
