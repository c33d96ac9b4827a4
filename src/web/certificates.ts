import { createPrivateKey, type KeyObject, X509Certificate } from 'node:crypto';
import { isIPv6 } from 'node:net';

const PEM_CERTIFICATE = /-----BEGIN CERTIFICATE-----[\s\S]+?-----END CERTIFICATE-----/g;

/** The certificates of a PEM text, in its order. Throws an Error, whose message quotes nothing, where one cannot be read. */
export function certificatesIn(pem: string): readonly X509Certificate[] {
  const texts = pem.match(PEM_CERTIFICATE) ?? [];
  if (texts.length === 0) throw new Error('holds no certificate; expected PEM, as in -----BEGIN CERTIFICATE-----');
  return texts.map((text) => {
    try {
      return new X509Certificate(text);
    } catch {
      throw new Error('holds a certificate that cannot be read; expected PEM');
    }
  });
}

/** The key of a PEM text. Throws an Error, whose message quotes nothing. */
export function privateKeyIn(pem: string): KeyObject {
  if (/ENCRYPTED/.test(pem)) throw new Error('is locked with a passphrase; expected a key without one');
  try {
    return createPrivateKey(pem);
  } catch {
    throw new Error('holds no private key; expected PEM, as in -----BEGIN PRIVATE KEY-----');
  }
}

/** From when to when a certificate is good, in seconds since the Unix epoch. */
export function validityOf({ validFrom, validTo }: X509Certificate): { readonly from: number; readonly to: number } {
  return { from: Date.parse(validFrom) / 1000, to: Date.parse(validTo) / 1000 };
}

/**
 * The alternative names of a certificate: DNS, e-mail, URI and IP addresses, the last in their shortest form. Node writes
 * them as `DNS:a, URI:"b, c"`: whatever could be taken for the end of a name is in quotes, as JSON.
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

/** One form for each address, whoever wrote it. */
export function shortAddress(address: string): string {
  return isIPv6(address) ? new URL(`http://[${address}]`).hostname.slice(1, -1) : address;
}
