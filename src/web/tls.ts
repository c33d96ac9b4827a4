import { constants } from 'node:crypto';
import { createSecureContext, createServer, type Server, type TLSSocket, type TlsOptions } from 'node:tls';
import { errorCode } from '../runtime/errors.ts';
import { alternativeNames, certificatesIn, privateKeyIn, shortAddress } from './certificates.ts';
import { type ClientPolicy, DEFAULT_SUITES, LEGACY_SUITES, TLS13_SUITES } from './tls-names.ts';
import type { TlsSection } from './web-config-schema.ts';

export interface TlsSettings {
  readonly options: TlsOptions;
  readonly client: ClientPolicy;
  readonly allowedNames: ReadonlySet<string> | undefined;
  /** When the server's certificate expires, in Unix seconds. */
  readonly expirySeconds: number;
  readonly validFromSeconds: number;
}

/** A PEM text, and where it is from, for an error. */
export interface Pem {
  readonly name: string;
  readonly text: string;
}

/** Adds a line for each error, which quotes no text, and returns undefined if there are any. */
export function tlsSettings(section: TlsSection<Pem>, errors: string[]): TlsSettings | undefined {
  const readPem = <Value>({ name, text }: Pem, read: (text: string) => Value): Value | undefined => {
    try {
      return read(text);
    } catch (error) {
      errors.push(`${name} ${(error as Error).message}`);
      return undefined;
    }
  };
  const certificate = readPem(section.certificate, (text) => certificatesIn(text)[0]);
  const key = readPem(section.key, privateKeyIn);
  if (section.clientCa !== undefined) readPem(section.clientCa, certificatesIn);
  if (certificate !== undefined && key !== undefined && !certificate.checkPrivateKey(key)) {
    const names = `${section.certificate.name} and ${section.key.name}`;
    errors.push(`${names} do not match; expected a certificate and its own key`);
  }
  if (errors.length > 0 || certificate === undefined) return undefined;
  const options = optionsOf(section);
  try {
    // OpenSSL has checks of its own, such as for keys that are too short.
    createSecureContext(options);
  } catch (error) {
    errors.push(`tls_server_config cannot be used (${errorCode(error) ?? 'unknown reason'})`);
    return undefined;
  }
  return {
    options,
    client: section.client,
    allowedNames: section.allowedNames && new Set(section.allowedNames.map(shortAddress)),
    expirySeconds: Date.parse(certificate.validTo) / 1000,
    validFromSeconds: Date.parse(certificate.validFrom) / 1000,
  };
}

/** Creates a server that does not listen, because connections are passed to it. */
export function tlsServer(options: TlsOptions): Server {
  if (options.ca === undefined) return createServer(options);
  // A server of Node.js does not pass `allowPartialTrustChain` on to the context that it creates. It does not request a
  // context for a client that names no host, such as one that connects to an IP address.
  const context = createSecureContext(options);
  return createServer({ ...options, SNICallback: (_, done) => done(null, context) });
}

/** Returns why the client certificate of a connection is rejected; undefined if it is admitted. */
export function clientCertificateError({ client, allowedNames }: TlsSettings, socket: TLSSocket): string | undefined {
  if (!client.requested) return undefined;
  const certificate = socket.getPeerX509Certificate();
  if (certificate === undefined) return client.required ? 'the client sent no certificate' : undefined;
  if (client.verified && !socket.authorized) return 'the client certificate is not trusted';
  if (allowedNames !== undefined && !alternativeNames(certificate).some((name) => allowedNames.has(name))) {
    return 'the client certificate has none of the allowed names';
  }
  return undefined;
}

function optionsOf(section: TlsSection<Pem>): TlsOptions {
  const { clientCa } = section;
  const isLegacy = section.minVersion < 'TLSv1.2';
  const suitesByDefault = [...Object.values(DEFAULT_SUITES), ...(isLegacy ? Object.values(LEGACY_SUITES) : [])];
  // Go always offers the suites of TLS 1.3; Node would disable TLS 1.3 without them.
  const suites = [...new Set([...Object.values(TLS13_SUITES), ...(section.suites ?? suitesByDefault)])];
  // OpenSSL accepts versions before 1.2 only at its lowest level.
  const ciphers = `${suites.join(':')}${isLegacy ? ':@SECLEVEL=0' : ''}`;
  return {
    cert: section.certificate.text,
    key: section.key.text,
    // A chain may end at any of these certificates, self-signed or not, as in Go, so an intermediate authority may be
    // trusted alone.
    ...(clientCa === undefined ? {} : { ca: clientCa.text, allowPartialTrustChain: true }),
    ciphers,
    ...(section.curves === undefined ? {} : { ecdhCurve: section.curves.join(':') }),
    minVersion: section.minVersion,
    maxVersion: section.maxVersion,
    honorCipherOrder: section.prefersOwnOrder,
    requestCert: section.client.requested,
    // The certificate is checked after the handshake, by `clientCertificateError`.
    rejectUnauthorized: false,
    sessionIdContext: 'filer-exporter',
    // Session tickets would admit earlier clients after a change of the rules.
    ...(section.client.requested ? { secureOptions: constants.SSL_OP_NO_TICKET } : {}),
    ALPNProtocols: ['http/1.1'],
  };
}
