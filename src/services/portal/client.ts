import { asError, CredentialError } from '../../runtime/errors.ts';
import { meaningOf } from '../../runtime/failures.ts';
import type { JsonClient, ServiceRequest } from '../../transport/json-client.ts';
import { RetryBudget, type RetryDependencies, withRetries } from '../../transport/retry.ts';
import type { ServiceClock } from '../../transport/service-clock.ts';
import type { TokenSource } from './token.ts';

/** Sends requests to the portal: adds the token to each, and after a 401 sends the request once more with a new token. */
export class PortalClient {
  readonly #client: JsonClient;
  readonly #tokens: TokenSource;
  readonly #retryDependencies: RetryDependencies;
  /** Once the portal has accepted a token, a request that it rejects with two tokens is rejected for another reason. */
  #hasAcceptedToken = false;

  constructor(client: JsonClient, tokens: TokenSource, retryDependencies: RetryDependencies) {
    this.#client = client;
    this.#tokens = tokens;
    this.#retryDependencies = { ...retryDependencies, budget: new RetryBudget() };
  }

  get serviceClock(): ServiceClock {
    return this.#client.serviceClock;
  }

  now(): number {
    return this.#client.now();
  }

  /** Retries after failures. Rejects with a CredentialError if the portal returns 401 for a new token and has accepted none before. */
  send(request: ServiceRequest, signal: AbortSignal): Promise<unknown> {
    const retryDependencies = { ...this.#retryDependencies, request: `${request.method} ${request.path}` };
    const sendOnce = (wasThrottled: boolean) =>
      this.#withToken({ ...request, priority: wasThrottled || request.priority === true }, signal);
    return withRetries(sendOnce, retryDependencies, signal);
  }

  async #withToken(request: ServiceRequest, signal: AbortSignal): Promise<unknown> {
    for (let isRetry = false; ; isRetry = true) {
      let token = await this.#tokens.get(signal);
      const authorization = () => {
        token = this.#tokens.cachedToken ?? token;
        return `Bearer ${token}`;
      };
      try {
        const body = await this.#client.send({ ...request, authorization }, signal);
        this.#hasAcceptedToken = true;
        return body;
      } catch (thrown) {
        if (meaningOf(thrown).action !== 'renew') throw thrown;
        if (!isRetry && this.#tokens.invalidate(token)) continue;
        if (this.#hasAcceptedToken) throw thrown;
        const cause = asError(thrown);
        throw new CredentialError(`${cause.message}, also with a new token`, { cause });
      }
    }
  }
}
