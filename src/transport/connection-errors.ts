import { errorCode } from '../runtime/errors.ts';

export class ProxyConnectionError extends Error {
  override readonly name = 'ProxyConnectionError';
  readonly causeCode: string;

  constructor(cause: Error) {
    super(`connecting to the proxy: ${cause.message}`, { cause });
    this.causeCode = errorCode(cause) ?? cause.message;
  }
}

type Party = 'service' | 'proxy';

const PRIVATE_AUTHORITY_ADVICE =
  'if your network has its own certificate authority, set NODE_EXTRA_CA_CERTS to its certificate';

const URL_OF: Readonly<Record<Party, string>> = { service: 'the URL', proxy: "the proxy's URL" };

function anotherHost(party: Party): string {
  return `is for another host name; check ${URL_OF[party]}${party === 'service' ? ', and the proxy if any' : ''}`;
}

/** What is wrong with a certificate and what to do, by the error code of OpenSSL or Node. */
const CERTIFICATE: Readonly<Record<string, (party: Party) => string>> = {
  CERT_HAS_EXPIRED: () => "has expired, or this machine's clock is wrong",
  CERT_NOT_YET_VALID: () => "is not valid yet, or this machine's clock is wrong",
  CERT_REVOKED: () => 'has been revoked',
  CERT_UNTRUSTED: () => `is not trusted; ${PRIVATE_AUTHORITY_ADVICE}`,
  CERT_SIGNATURE_FAILURE: () => 'does not have a valid signature of its issuer',
  ERR_TLS_CERT_ALTNAME_INVALID: anotherHost,
  HOSTNAME_MISMATCH: anotherHost,
  UNABLE_TO_GET_ISSUER_CERT: () => `is from an unknown certificate authority; ${PRIVATE_AUTHORITY_ADVICE}`,
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: () => `is from an unknown certificate authority; ${PRIVATE_AUTHORITY_ADVICE}`,
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: () => `is from an unknown certificate authority; ${PRIVATE_AUTHORITY_ADVICE}`,
  SELF_SIGNED_CERT_IN_CHAIN: () => `is from a certificate authority that is not trusted; ${PRIVATE_AUTHORITY_ADVICE}`,
  DEPTH_ZERO_SELF_SIGNED_CERT: () => 'is self-signed; to trust it, set NODE_EXTRA_CA_CERTS to it',
};

const NO_TLS: ReadonlySet<string> = new Set(['ERR_SSL_WRONG_VERSION_NUMBER', 'ERR_SSL_PACKET_LENGTH_TOO_LONG']);

/** Returns undefined if the code is not a TLS error. */
export function describeTlsError(code: string, party: Party): string | undefined {
  if (NO_TLS.has(code))
    return `the ${party} does not speak TLS there; check scheme and port of ${URL_OF[party]} (${code})`;
  const problem = Object.hasOwn(CERTIFICATE, code) ? CERTIFICATE[code]?.(party) : undefined;
  return problem && `the ${party}'s certificate ${problem} (${code})`;
}

export function describeConnectionError(cause: Error): string {
  if (cause instanceof ProxyConnectionError) {
    const { causeCode: errorCode } = cause;
    return describeTlsError(errorCode, 'proxy') ?? `the proxy cannot be reached (${errorCode})`;
  }
  const code = errorCode(cause);
  // When a proxy rejects a request, undici reports an abort: only its message names the proxy and the status.
  if (code === undefined || code === 'UND_ERR_ABORTED') return cause.message;
  // Requests to a service have no time-out for headers, so this one was set for the proxy.
  if (code === 'UND_ERR_HEADERS_TIMEOUT') return `the proxy opened no tunnel in time (${code})`;
  return describeTlsError(code, 'service') ?? describeLookupError(cause, code) ?? code;
}

function describeLookupError(cause: Error, code: string): string | undefined {
  if (!('hostname' in cause) || typeof cause.hostname !== 'string') return undefined;
  const problem = code === 'ENOTFOUND' ? 'is not known to the name server' : 'cannot be looked up';
  return `the host name ${cause.hostname} ${problem} (${code})`;
}
