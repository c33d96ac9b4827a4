import { asError, CredentialError } from '../../runtime/errors.ts';
import { meaningOfError } from '../../runtime/statuses.ts';
import type { ApiRequest, JsonClient } from '../../transport/client.ts';
import { RetryAllowance, type RetryParts, withRetries } from '../../transport/retry.ts';
import type { ServiceClock } from '../../transport/service-clock.ts';
import type { TokenSource } from './token.ts';

/** The portal with its token: adds it to each request, and after a 401 retries once with a new one. */
export class PortalClient {
  readonly #client: JsonClient;
  readonly #tokens: TokenSource;
  readonly #retryParts: RetryParts;
  /** Whether any token has worked: then a request that is rejected with a new one too is rejected for itself. */
  #hasWorked = false;

  constructor(client: JsonClient, tokens: TokenSource, retryParts: RetryParts) {
    this.#client = client;
    this.#tokens = tokens;
    this.#retryParts = { ...retryParts, allowance: new RetryAllowance() };
  }

  get serviceClock(): ServiceClock {
    return this.#client.serviceClock;
  }

  now(): number {
    return this.#client.now();
  }

  /** With retries. A 401 with a new token too is a CredentialError until any request has been accepted. */
  send(request: ApiRequest, signal: AbortSignal): Promise<unknown> {
    const parts = { ...this.#retryParts, request: `${request.method} ${request.path}` };
    const ask = (wasThrottled: boolean) =>
      this.#withToken({ ...request, ahead: wasThrottled || request.ahead === true }, signal);
    return withRetries(ask, 'read', parts, signal);
  }

  async #withToken(request: ApiRequest, signal: AbortSignal): Promise<unknown> {
    for (let isAgain = false; ; isAgain = true) {
      let access = await this.#tokens.get(signal);
      const authorization = () => {
        access = this.#tokens.atHand ?? access;
        return `Bearer ${access}`;
      };
      try {
        const body = await this.#client.send({ ...request, authorization }, signal);
        this.#hasWorked = true;
        return body;
      } catch (thrown) {
        if (meaningOfError(thrown, 'read').does !== 'renew') throw thrown;
        if (!isAgain && this.#tokens.reject(access)) continue;
        if (this.#hasWorked) throw thrown;
        const cause = asError(thrown);
        throw new CredentialError(`${cause.message}, also with a new token`, { cause });
      }
    }
  }
}
