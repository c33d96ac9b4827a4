import { asError, CredentialError } from '../../runtime/errors.ts';
import { meaningOf } from '../../runtime/failures.ts';
import type { JsonClient, ServiceRequest } from '../../transport/json-client.ts';
import type { ServiceClock } from '../../transport/service-clock.ts';
import type { TokenSource } from './token.ts';

/** What collectors use of the client. */
export type PortalRequests = Pick<PortalClient, 'send' | 'serviceClock'>;

/** Sends requests to the portal: adds the token to each, and after a 401 sends the request once more with a new token. */
export class PortalClient {
  readonly #client: Pick<JsonClient, 'send' | 'serviceClock'>;
  readonly #tokens: TokenSource;
  /** Once the portal has accepted a token, a request that it rejects with two tokens is rejected for another reason. */
  #hasAcceptedToken = false;

  constructor(client: Pick<JsonClient, 'send' | 'serviceClock'>, tokens: TokenSource) {
    this.#client = client;
    this.#tokens = tokens;
  }

  get serviceClock(): ServiceClock {
    return this.#client.serviceClock;
  }

  /** Rejects with a CredentialError if the portal returns 401 for a new token and has accepted none before. */
  async send(request: ServiceRequest, signal: AbortSignal): Promise<unknown> {
    for (let isRenewed = false; ; isRenewed = true) {
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
        if (!isRenewed && this.#tokens.invalidate(token)) continue;
        if (this.#hasAcceptedToken) throw thrown;
        const cause = asError(thrown);
        throw new CredentialError(`${cause.message}, also with a new token`, { cause });
      }
    }
  }
}
