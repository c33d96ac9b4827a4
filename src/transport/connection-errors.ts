import { errorCode } from '../runtime/errors.ts';

export class ProxyConnectionError extends Error {
  override readonly name = 'ProxyConnectionError';
  readonly faultCode: string;

  constructor(cause: Error) {
    super(`connecting to the proxy: ${cause.message}`, { cause });
    this.faultCode = errorCode(cause) ?? cause.message;
  }
}

type Party = 'service' | 'proxy';

const OWN_AUTHORITY = 'if your network has its own certificate authority, set NODE_EXTRA_CA_CERTS to its certificate';

const URL_OF: Readonly<Record<Party, string>> = { service: 'the URL', proxy: "the proxy's URL" };

function anotherHost(party: Party): string {
  return `is for another host name; check ${URL_OF[party]}${party === 'service' ? ', and the proxy if any' : ''}`;
}

/** Faults of certificates by the codes of OpenSSL and Node: what is wrong, and what to do. */
const CERTIFICATE: Readonly<Record<string, (party: Party) => string>> = {
  CERT_HAS_EXPIRED: () => "has expired, or this machine's clock is wrong",
  CERT_NOT_YET_VALID: () => "is not valid yet, or this machine's clock is wrong",
  CERT_REVOKED: () => 'has been revoked',
  CERT_UNTRUSTED: () => `is not trusted; ${OWN_AUTHORITY}`,
  CERT_SIGNATURE_FAILURE: () => 'does not have a valid signature of its issuer',
  ERR_TLS_CERT_ALTNAME_INVALID: anotherHost,
  HOSTNAME_MISMATCH: anotherHost,
  UNABLE_TO_GET_ISSUER_CERT: () => `is from an unknown certificate authority; ${OWN_AUTHORITY}`,
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: () => `is from an unknown certificate authority; ${OWN_AUTHORITY}`,
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: () => `is from an unknown certificate authority; ${OWN_AUTHORITY}`,
  SELF_SIGNED_CERT_IN_CHAIN: () => `is from a certificate authority that is not trusted; ${OWN_AUTHORITY}`,
  DEPTH_ZERO_SELF_SIGNED_CERT: () => 'is self-signed; to trust it, set NODE_EXTRA_CA_CERTS to it',
};

const NO_TLS: ReadonlySet<string> = new Set(['ERR_SSL_WRONG_VERSION_NUMBER', 'ERR_SSL_PACKET_LENGTH_TOO_LONG']);

/** Undefined for a code that is no fault of TLS. */
export function describeTlsError(code: string, party: Party): string | undefined {
  if (NO_TLS.has(code))
    return `the ${party} does not speak TLS there; check scheme and port of ${URL_OF[party]} (${code})`;
  const words = Object.hasOwn(CERTIFICATE, code) ? CERTIFICATE[code]?.(party) : undefined;
  return words && `the ${party}'s certificate ${words} (${code})`;
}

export function describeConnectionError(cause: Error): string {
  if (cause instanceof ProxyConnectionError) {
    const { faultCode } = cause;
    return describeTlsError(faultCode, 'proxy') ?? `the proxy cannot be reached (${faultCode})`;
  }
  const code = errorCode(cause);
  // A rejection by a proxy arrives as an abort; only its message names the proxy and the status.
  if (code === undefined || code === 'UND_ERR_ABORTED') return cause.message;
  // Waiting for headers has no time-out of its own towards the service, so this is the proxy.
  if (code === 'UND_ERR_HEADERS_TIMEOUT') return `the proxy opened no tunnel in time (${code})`;
  return describeTlsError(code, 'service') ?? nameFault(cause, code) ?? code;
}

function nameFault(cause: Error, code: string): string | undefined {
  if (!('hostname' in cause) || typeof cause.hostname !== 'string') return undefined;
  const words = code === 'ENOTFOUND' ? 'is not known to the name server' : 'cannot be looked up';
  return `the host name ${cause.hostname} ${words} (${code})`;
}
