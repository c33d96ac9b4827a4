import { constants } from 'node:crypto';
import { createSecureContext, createServer, type Server, type TLSSocket, type TlsOptions } from 'node:tls';
import { codeOf } from '../runtime/errors.ts';
import { alternativeNames, certificatesIn, privateKeyIn, shortAddress } from './certificates.ts';
import type { TlsSection } from './file-format.ts';
import { type ClientPolicy, OLD_SUITES, TLS13_SUITES, USUAL_SUITES } from './tls-names.ts';

/** The settings of a TLS server, and the clients it admits. */
export interface TlsSettings {
  readonly options: TlsOptions;
  readonly client: ClientPolicy;
  readonly allowedNames: ReadonlySet<string> | undefined;
  /** When the server's certificate expires, in seconds since the Unix epoch. */
  readonly expirySeconds: number;
  /** When its validity begins, likewise. */
  readonly validFromSeconds: number;
}

/** A PEM text, and where it is from, for a fault. */
export interface Pem {
  readonly name: string;
  readonly text: string;
}

export interface PemTexts {
  readonly certificate: Pem;
  readonly key: Pem;
  readonly clientCa: Pem | undefined;
}

const HANDSHAKE_MS = 10_000;

/** The settings of the section and its texts, or its faults, one line each; no line quotes a text. */
export function tlsSettings(
  section: TlsSection,
  texts: PemTexts,
): { readonly settings: TlsSettings | undefined; readonly faults: readonly string[] } {
  const faults: string[] = [];
  const sound = <Value>({ name, text }: Pem, read: (text: string) => Value): Value | undefined => {
    try {
      return read(text);
    } catch (error) {
      faults.push(`${name} ${(error as Error).message}`);
      return undefined;
    }
  };
  const certificate = sound(texts.certificate, (text) => certificatesIn(text)[0]);
  const key = sound(texts.key, privateKeyIn);
  if (texts.clientCa !== undefined) sound(texts.clientCa, certificatesIn);
  if (certificate !== undefined && key !== undefined && !certificate.checkPrivateKey(key)) {
    const names = `${texts.certificate.name} and ${texts.key.name}`;
    faults.push(`${names} do not match; expected a certificate and its own key`);
  }
  if (faults.length > 0 || certificate === undefined) return { settings: undefined, faults };
  const options = optionsOf(section, texts);
  try {
    // OpenSSL has checks of its own, such as for keys that are too short.
    createSecureContext(options);
  } catch (error) {
    const faults = [`tls_server_config cannot be used (${codeOf(error) ?? 'unknown reason'})`];
    return { settings: undefined, faults };
  }
  const allowedNames = section.allowedNames && new Set(section.allowedNames.map(shortAddress));
  const expirySeconds = Date.parse(certificate.validTo) / 1000;
  const validFromSeconds = Date.parse(certificate.validFrom) / 1000;
  return { settings: { options, client: section.client, allowedNames, expirySeconds, validFromSeconds }, faults };
}

/** A TLS server that does not listen: connections are passed to it. */
export function tlsServer(options: TlsOptions): Server {
  const server = createServer(options);
  // Node passes the options to the server's context one by one, and `allowPartialTrustChain` is not among them.
  return Object.assign(server, { _sharedCreds: createSecureContext(options) });
}

/** Why a connection's client certificate is not admitted; undefined if it is. */
export function clientFault({ client, allowedNames }: TlsSettings, socket: TLSSocket): string | undefined {
  if (!client.asked) return undefined;
  const certificate = socket.getPeerX509Certificate();
  if (certificate === undefined) return client.required ? 'the client sent no certificate' : undefined;
  if (client.verified && !socket.authorized) return 'the client certificate is not trusted';
  if (allowedNames !== undefined && !alternativeNames(certificate).some((name) => allowedNames.has(name))) {
    return 'the client certificate has none of the allowed names';
  }
  return undefined;
}

function optionsOf(section: TlsSection, { certificate, key, clientCa }: PemTexts): TlsOptions {
  const isOld = section.minVersion < 'TLSv1.2';
  const usual = [...Object.values(USUAL_SUITES), ...(isOld ? Object.values(OLD_SUITES) : [])];
  // Go always offers the suites of TLS 1.3; Node would disable TLS 1.3 without them.
  const suites = [...new Set([...Object.values(TLS13_SUITES), ...(section.suites ?? usual)])];
  // OpenSSL accepts versions before 1.2 only at its lowest level.
  const ciphers = `${suites.join(':')}${isOld ? ':@SECLEVEL=0' : ''}`;
  return {
    cert: certificate.text,
    key: key.text,
    // A chain may end at any of them, self-signed or not, as in Go: an intermediate authority may be trusted alone.
    ...(clientCa === undefined ? {} : { ca: clientCa.text, allowPartialTrustChain: true }),
    ciphers,
    ...(section.curves === undefined ? {} : { ecdhCurve: section.curves.join(':') }),
    minVersion: section.minVersion,
    maxVersion: section.maxVersion,
    honorCipherOrder: section.prefersOwnOrder,
    requestCert: section.client.asked,
    // Checked after the handshake, when the path is known: see `clientFault`.
    rejectUnauthorized: false,
    sessionIdContext: 'filer-exporter',
    // Session tickets would admit earlier clients after a change of the rules.
    ...(section.client.asked ? { secureOptions: constants.SSL_OP_NO_TICKET } : {}),
    handshakeTimeout: HANDSHAKE_MS,
    ALPNProtocols: ['http/1.1'],
  };
}
