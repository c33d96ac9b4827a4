import { policyForError } from '../../runtime/error-policy.ts';
import { asError, CredentialError } from '../../runtime/errors.ts';
import type { JsonClient, ServiceRequest } from '../../transport/json-client.ts';
import { RetryBudget, type RetryDependencies, withRetries } from '../../transport/retry.ts';
import type { ServiceClock } from '../../transport/service-clock.ts';
import type { TokenSource } from './token.ts';

/** The portal with its token: adds it to each request, and after a 401 retries once with a new one. */
export class PortalClient {
  readonly #client: JsonClient;
  readonly #tokens: TokenSource;
  readonly #retryParts: RetryDependencies;
  /** Whether any token has worked: then a request that is rejected with a new one too is rejected for itself. */
  #hasWorked = false;

  constructor(client: JsonClient, tokens: TokenSource, retryParts: RetryDependencies) {
    this.#client = client;
    this.#tokens = tokens;
    this.#retryParts = { ...retryParts, allowance: new RetryBudget() };
  }

  get serviceClock(): ServiceClock {
    return this.#client.serviceClock;
  }

  now(): number {
    return this.#client.now();
  }

  /** With retries. A 401 with a new token too is a CredentialError until any request has been accepted. */
  send(request: ServiceRequest, signal: AbortSignal): Promise<unknown> {
    const parts = { ...this.#retryParts, request: `${request.method} ${request.path}` };
    const ask = (wasThrottled: boolean) =>
      this.#withToken({ ...request, priority: wasThrottled || request.priority === true }, signal);
    return withRetries(ask, 'read', parts, signal);
  }

  async #withToken(request: ServiceRequest, signal: AbortSignal): Promise<unknown> {
    for (let isAgain = false; ; isAgain = true) {
      let access = await this.#tokens.get(signal);
      const authorization = () => {
        access = this.#tokens.cachedToken ?? access;
        return `Bearer ${access}`;
      };
      try {
        const body = await this.#client.send({ ...request, authorization }, signal);
        this.#hasWorked = true;
        return body;
      } catch (thrown) {
        if (policyForError(thrown, 'read').action !== 'renew') throw thrown;
        if (!isAgain && this.#tokens.invalidate(access)) continue;
        if (this.#hasWorked) throw thrown;
        const cause = asError(thrown);
        throw new CredentialError(`${cause.message}, also with a new token`, { cause });
      }
    }
  }
}
