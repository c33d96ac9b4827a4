import { failureReason } from '../runtime/error-policy.ts';
import type { Exchange } from '../transport/json-client.ts';

/** A request without a usable response, where neither credentials nor rights are the cause. `address`: what a 404 suggests. */
export function adviceFor(error: Error, address: string): string {
  switch (failureReason(error)) {
    case 'not_found':
      return address;
    case 'throttled':
      return 'run the doctor again later; other tools use the account’s limit: lower their request rate, or that of the exporter';
    case 'network':
      return 'check the host and port of the URL, the network between this machine and the service, HTTPS_PROXY and NO_PROXY';
    case 'timeout':
      return 'run the doctor again later; if the service is always so slow, raise REQUEST_TIMEOUT';
    case 'invalid':
      return `${address}; and check whether a proxy or a login page responds in place of the service`;
    default:
      return 'run the doctor again later; if the fault remains, ask the operator of the service and attach a report';
  }
}

/** The message, and whether the latest response was a page for people: the services send none. */
export function describeFailure({ message }: Error, exchanges: readonly Exchange[]): string {
  const isPage = /text\/html/i.test(String(exchanges.at(-1)?.headers['content-type']));
  return isPage ? `${message} (an HTML page, as of a proxy or a gateway)` : message;
}
