import { asError, CredentialError } from '../../runtime/errors.ts';
import { meaningOf } from '../../runtime/failures.ts';
import type { JsonClient, ServiceRequest } from '../../transport/json-client.ts';
import type { TokenSource } from './token.ts';

/** What collectors use of the client. */
export type PortalClient = Pick<JsonClient, 'send' | 'serviceClock'>;

/**
 * Adds the token to each request, and after a 401 sends the request once more with a new token. Rejects with a
 * CredentialError if the portal returns 401 for a new token and has accepted none before.
 */
export function withToken(client: PortalClient, tokens: TokenSource): PortalClient {
  // Once the portal has accepted a token, a request that it rejects with two tokens is rejected for another reason.
  let hasAcceptedToken = false;
  const send = async <Result>(request: ServiceRequest<Result>, signal: AbortSignal): Promise<Result> => {
    for (let isRenewed = false; ; isRenewed = true) {
      let token = await tokens.get(signal);
      const authorization = () => {
        token = tokens.cachedToken ?? token;
        return `Bearer ${token}`;
      };
      try {
        const result = await client.send({ ...request, authorization }, signal);
        hasAcceptedToken = true;
        return result;
      } catch (thrown) {
        if (meaningOf(thrown).action !== 'renew') throw thrown;
        if (!isRenewed && tokens.invalidate(token)) continue;
        if (hasAcceptedToken) throw thrown;
        const cause = asError(thrown);
        throw new CredentialError(`${cause.message}, also with a new token`, { cause });
      }
    }
  };
  return { send, serviceClock: client.serviceClock };
}
