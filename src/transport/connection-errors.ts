import { asError, errorCode, type Problem, RequestError } from '../runtime/errors.ts';

export class ProxyConnectionError extends Error {
  override readonly name = 'ProxyConnectionError';
  override readonly cause: Error;

  constructor(cause: Error) {
    super(`connecting to the proxy: ${describeAddresses(cause)}`);
    this.cause = cause;
  }
}

/** The message of undici is all that shows the status of a proxy that opens no tunnel. */
const PROXY_REJECTION = /^Proxy response \((\d+)\)/;

export interface ConnectionProblem {
  readonly problem?: Problem;
  readonly text: string;
}

const UNKNOWN_AUTHORITY = ['authority', 'is from an unknown certificate authority'] as const;

/** What is wrong with a certificate, by the error code of OpenSSL or Node. */
const CERTIFICATE: Readonly<Record<string, readonly ['certificate' | 'authority', string]>> = {
  CERT_HAS_EXPIRED: ['certificate', 'has expired'],
  CERT_NOT_YET_VALID: ['certificate', 'is not valid yet'],
  CERT_REVOKED: ['certificate', 'has been revoked'],
  CERT_UNTRUSTED: ['authority', 'is not trusted'],
  CERT_SIGNATURE_FAILURE: ['certificate', 'does not have a valid signature of its issuer'],
  ERR_TLS_CERT_ALTNAME_INVALID: ['certificate', 'is for another host name'],
  HOSTNAME_MISMATCH: ['certificate', 'is for another host name'],
  UNABLE_TO_GET_ISSUER_CERT: UNKNOWN_AUTHORITY,
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: UNKNOWN_AUTHORITY,
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: UNKNOWN_AUTHORITY,
  SELF_SIGNED_CERT_IN_CHAIN: ['authority', 'is from a certificate authority that is not trusted'],
  DEPTH_ZERO_SELF_SIGNED_CERT: ['authority', 'is self-signed'],
};

const NO_TLS: ReadonlySet<string> = new Set(['ERR_SSL_WRONG_VERSION_NUMBER', 'ERR_SSL_PACKET_LENGTH_TOO_LONG']);

/** Returns undefined if the code is not a TLS error. */
export function describeTlsError(code: string, party: 'service' | 'proxy'): ConnectionProblem | undefined {
  if (NO_TLS.has(code)) return { problem: 'tls', text: `the ${party} does not speak TLS there (${code})` };
  const [problem, text] = (Object.hasOwn(CERTIFICATE, code) && CERTIFICATE[code]) || [];
  return problem && { problem, text: `the ${party}'s certificate ${text} (${code})` };
}

/** Returns the error of a request without a response: a RequestError as it is, and any other error described. */
export function connectionError(requestName: string, thrown: unknown): RequestError {
  if (thrown instanceof RequestError) return thrown;
  const cause = asError(thrown);
  const { text, problem } = describeConnectionError(cause);
  return new RequestError('network', `${requestName} got no response: ${text}`, { cause, problem });
}

export function describeConnectionError(cause: Error): ConnectionProblem {
  if (cause instanceof ProxyConnectionError) {
    const { problem, text } = describeTlsError(errorCode(cause.cause) ?? '', 'proxy') ?? {
      text: `the proxy cannot be reached (${describeAddresses(cause.cause)})`,
    };
    return { problem: problem === 'authority' ? problem : 'proxy', text };
  }
  const [, status] = PROXY_REJECTION.exec(cause.message) ?? [];
  if (status !== undefined) {
    return { problem: status === '407' ? 'proxy_credentials' : 'proxy', text: `the proxy returned ${status}` };
  }
  const code = errorCode(cause);
  if (code === undefined || code === 'UND_ERR_ABORTED') return { text: cause.message };
  // Requests to a service have no time-out for headers, so this one was set for the proxy.
  if (code === 'UND_ERR_HEADERS_TIMEOUT')
    return { problem: 'proxy', text: `the proxy opened no tunnel in time (${code})` };
  return describeTlsError(code, 'service') ?? describeLookupError(cause, code) ?? { text: describeAddresses(cause) };
}

/** Names each address that was tried with its own error, as far as Node and undici report them. */
function describeAddresses(cause: Error): string {
  if (cause instanceof AggregateError) return cause.errors.map(describeAddresses).join(', ');
  const code = errorCode(cause) ?? cause.message;
  // undici's own time-out names the addresses in its message only.
  const [attempted] = /\(attempted .*\)$/.exec(cause.message) ?? [];
  if (attempted !== undefined) return `${code} ${attempted}`;
  const { address, port } = cause as { readonly address?: string; readonly port?: number };
  return address === undefined ? code : `${code} at ${address.includes(':') ? `[${address}]` : address}:${port}`;
}

function describeLookupError(cause: Error, code: string): ConnectionProblem | undefined {
  if (!('hostname' in cause) || typeof cause.hostname !== 'string') return undefined;
  const problem = code === 'ENOTFOUND' ? 'is not known to the name server' : 'cannot be looked up';
  return { problem: 'dns', text: `the host name ${cause.hostname} ${problem} (${code})` };
}
