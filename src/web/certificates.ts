import { createPrivateKey, type KeyObject, X509Certificate } from 'node:crypto';
import { isIPv6 } from 'node:net';

const PEM_CERTIFICATE = /-----BEGIN CERTIFICATE-----[\s\S]+?-----END CERTIFICATE-----/g;

/** Returns the certificates in the order of the text. Throws an Error that quotes nothing if one cannot be read. */
export function certificatesIn(pem: string): readonly X509Certificate[] {
  const texts = pem.match(PEM_CERTIFICATE) ?? [];
  if (texts.length === 0) throw new Error('contains no certificate; expected PEM, as in -----BEGIN CERTIFICATE-----');
  return texts.map((text) => {
    try {
      return new X509Certificate(text);
    } catch {
      throw new Error('contains an unreadable certificate; expected PEM');
    }
  });
}

/** Throws an Error that quotes nothing if the key cannot be read. */
export function privateKeyIn(pem: string): KeyObject {
  if (/ENCRYPTED/.test(pem)) throw new Error('is encrypted with a passphrase; expected a key without one');
  try {
    return createPrivateKey(pem);
  } catch {
    throw new Error('contains no private key; expected PEM, as in -----BEGIN PRIVATE KEY-----');
  }
}

/**
 * The alternative names of a certificate: DNS, e-mail, URI and IP addresses, the last in their shortest form. Node
 * writes them as `DNS:a, URI:"b, c"`: a name that could be misread is in quotes, as JSON.
 */
export function alternativeNames(certificate: X509Certificate): readonly string[] {
  const text = certificate.subjectAltName ?? '';
  return [...text.matchAll(/(?:^|, )(DNS|email|URI|IP Address):("(?:[^"\\]|\\.)*"|[^",]*)(?=, |$)/g)].map(
    ([, kind, value = '']) => {
      const name = value.startsWith('"') ? String(JSON.parse(value)) : value;
      return kind === 'IP Address' ? shortAddress(name) : name;
    },
  );
}

/** Returns the shortest form of an address, however it was written. */
export function shortAddress(address: string): string {
  return isIPv6(address) ? new URL(`http://[${address}]`).hostname.slice(1, -1) : address;
}
