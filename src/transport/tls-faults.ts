const OWN_AUTHORITY = 'if your network has an authority of its own, name its certificate in NODE_EXTRA_CA_CERTS';

/** By the codes of OpenSSL and Node: what is wrong, and what to do. */
const WORDS: Readonly<Record<string, string>> = {
  CERT_HAS_EXPIRED: "the service's certificate has expired, or this machine's clock is wrong",
  CERT_NOT_YET_VALID: "the service's certificate is not valid yet, or this machine's clock is wrong",
  CERT_REVOKED: "the service's certificate has been revoked",
  CERT_UNTRUSTED: `the service's certificate is not trusted; ${OWN_AUTHORITY}`,
  CERT_SIGNATURE_FAILURE: "the service's certificate is not signed by who it says",
  ERR_TLS_CERT_ALTNAME_INVALID:
    "the service's certificate is for another host name; check the URL, and the proxy if any",
  HOSTNAME_MISMATCH: "the service's certificate is for another host name; check the URL, and the proxy if any",
  UNABLE_TO_GET_ISSUER_CERT: `the service's certificate is from an unknown authority; ${OWN_AUTHORITY}`,
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: `the service's certificate is from an unknown authority; ${OWN_AUTHORITY}`,
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: `the service's certificate is from an unknown authority; ${OWN_AUTHORITY}`,
  SELF_SIGNED_CERT_IN_CHAIN: `the service's certificate is from an authority that is not trusted; ${OWN_AUTHORITY}`,
  DEPTH_ZERO_SELF_SIGNED_CERT:
    "the service's certificate is signed by itself; name it in NODE_EXTRA_CA_CERTS to trust it",
  ERR_SSL_WRONG_VERSION_NUMBER: 'the service does not speak TLS there; check scheme and port of the URL',
  ERR_SSL_PACKET_LENGTH_TOO_LONG: 'the service does not speak TLS there; check scheme and port of the URL',
};

/** What a fault of a TLS connection means, with its code; undefined for codes of anything else. */
export function tlsFault(code: string): string | undefined {
  const words = Object.hasOwn(WORDS, code) ? WORDS[code] : undefined;
  return words && `${words} (${code})`;
}
