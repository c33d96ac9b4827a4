import { constants, createPrivateKey, X509Certificate } from 'node:crypto';
import { isIP } from 'node:net';
import { createSecureContext, type SecureVersion, type TLSSocket, type TlsOptions } from 'node:tls';
import { asError, ConfigError } from '../runtime/errors.ts';
import type { TlsServerConfig } from './web-config-schema.ts';

/* The names in the file format of the exporter toolkit, which are those of Go, with their names in Node.js. */

/** The suites of TLS 1.3. As in Go, all of them are always offered. */
const TLS13_SUITES = {
  TLS_AES_128_GCM_SHA256: 'TLS_AES_128_GCM_SHA256',
  TLS_AES_256_GCM_SHA384: 'TLS_AES_256_GCM_SHA384',
  TLS_CHACHA20_POLY1305_SHA256: 'TLS_CHACHA20_POLY1305_SHA256',
} as const;

/** The suites of TLS 1.2 with authenticated encryption. */
const TLS12_SUITES = {
  TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256: 'ECDHE-ECDSA-AES128-GCM-SHA256',
  TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256: 'ECDHE-RSA-AES128-GCM-SHA256',
  TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384: 'ECDHE-ECDSA-AES256-GCM-SHA384',
  TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384: 'ECDHE-RSA-AES256-GCM-SHA384',
  TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256: 'ECDHE-ECDSA-CHACHA20-POLY1305',
  TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305_SHA256: 'ECDHE-RSA-CHACHA20-POLY1305',
} as const;

export const CIPHER_SUITES = { ...TLS13_SUITES, ...TLS12_SUITES } as const;

export const CURVES = { CurveP256: 'P-256', CurveP384: 'P-384', CurveP521: 'P-521', X25519: 'X25519' } as const;

export const VERSIONS = { TLS12: 'TLSv1.2', TLS13: 'TLSv1.3' } as const satisfies Record<string, SecureVersion>;

/** Whether the handshake requests a certificate of the client, whether it is mandatory, whether it is verified. */
interface ClientPolicy {
  readonly isRequested: boolean;
  readonly isRequired: boolean;
  readonly isVerified: boolean;
}

const ANY: ClientPolicy = { isRequested: true, isRequired: true, isVerified: false };

/** `client_auth_type`; `RequireClientCert` is the toolkit's older name of `RequireAnyClientCert`. */
export const CLIENT_POLICIES = {
  NoClientCert: { isRequested: false, isRequired: false, isVerified: false },
  RequestClientCert: { isRequested: true, isRequired: false, isVerified: false },
  RequireAnyClientCert: ANY,
  RequireClientCert: ANY,
  VerifyClientCertIfGiven: { isRequested: true, isRequired: false, isVerified: true },
  RequireAndVerifyClientCert: { isRequested: true, isRequired: true, isVerified: true },
} as const satisfies Readonly<Record<string, ClientPolicy>>;

/** The texts in PEM that `tls_server_config` contains itself, or names as files. */
interface TlsTexts {
  readonly cert: string;
  readonly key: string;
  readonly ca: string | undefined;
}

export interface TlsRules {
  /** What `https.createServer` and `setSecureContext` get. */
  readonly options: TlsOptions;
  /** The policy of `client_auth_type`. */
  readonly client: ClientPolicy;
  /** The client's certificate has one of them; every name is allowed if there are none, as in the toolkit. */
  readonly allowedNames: readonly string[];
  /** When the server's certificate ends to be valid, in Unix seconds. */
  readonly expirySeconds: number;
}

/** Throws a ConfigError, which quotes no text. */
export function tlsRules(section: TlsServerConfig, texts: TlsTexts): TlsRules {
  const { cert, key, ca } = texts;
  // OpenSSL takes an empty certificate or key, and a broken authority.
  const certificate = readPem('cert', cert, (text) => new X509Certificate(text));
  readPem('key', key, createPrivateKey);
  if (ca !== undefined) readPem('client_ca', ca, (text) => new X509Certificate(text));
  const client = CLIENT_POLICIES[section.client_auth_type ?? 'NoClientCert'];
  const options = optionsOf(section, texts, client);
  try {
    createSecureContext(options);
  } catch (error) {
    const expected = 'expected a certificate and its own key, as long as OpenSSL demands';
    throw new ConfigError([`tls_server_config: OpenSSL rejected it (${asError(error).message}); ${expected}`]);
  }
  return {
    options,
    client,
    allowedNames: section.client_allowed_sans ?? [],
    expirySeconds: Date.parse(certificate.validTo) / 1000,
  };
}

function readPem<Value>(name: string, text: string, read: (text: string) => Value): Value {
  try {
    return read(text);
  } catch {
    throw new ConfigError([`tls_server_config.${name}: expected PEM without a passphrase, as in -----BEGIN …-----`]);
  }
}

function optionsOf(section: TlsServerConfig, { cert, key, ca }: TlsTexts, client: ClientPolicy): TlsOptions {
  const { cipher_suites: named = [], curve_preferences: curves = [] } = section;
  const suites = named.length > 0 ? named.map((name) => CIPHER_SUITES[name]) : Object.values(TLS12_SUITES);
  return {
    cert,
    key,
    ...(ca === undefined ? {} : { ca }),
    // Node.js would disable TLS 1.3 without its suites.
    ciphers: [...new Set([...Object.values(TLS13_SUITES), ...suites])].join(':'),
    ...(curves.length === 0 ? {} : { ecdhCurve: curves.map((name) => CURVES[name]).join(':') }),
    minVersion: VERSIONS[section.min_version ?? 'TLS12'],
    maxVersion: VERSIONS[section.max_version ?? 'TLS13'],
    honorCipherOrder: section.prefer_server_cipher_suites ?? true,
    requestCert: client.isRequested,
    // What OpenSSL cannot check is checked for each request, by `clientCertificateError`.
    rejectUnauthorized: client.isRequired && client.isVerified,
    sessionIdContext: 'filer-exporter',
    // Session tickets would admit earlier clients after a change of the rules.
    ...(client.isRequested ? { secureOptions: constants.SSL_OP_NO_TICKET } : {}),
  };
}

/** Returns why a request on this connection is rejected; undefined if it is admitted. */
export function clientCertificateError(
  { client, allowedNames }: Pick<TlsRules, 'client' | 'allowedNames'>,
  socket: Pick<TLSSocket, 'getPeerX509Certificate' | 'authorized'>,
): string | undefined {
  if (!client.isRequested) return undefined;
  const certificate = socket.getPeerX509Certificate();
  if (certificate === undefined) return client.isRequired ? 'the client sent no certificate' : undefined;
  if (client.isVerified && !socket.authorized) return 'the client certificate is not trusted';
  if (allowedNames.length > 0 && !allowedNames.some((name) => hasName(certificate, name))) {
    return 'the client certificate has none of the allowed names';
  }
  return undefined;
}

/**
 * Whether one of the alternative names is this text or this address. Node.js writes them as `DNS:a, URI:b`. One that could be
 * misread is in quotes, and is not compared.
 */
function hasName(certificate: X509Certificate, name: string): boolean {
  if (isIP(name) !== 0) return certificate.checkIP(name) !== undefined;
  const names = (certificate.subjectAltName ?? '').replaceAll(/"(?:[^"\\]|\\.)*"/g, '').split(', ');
  return ['DNS', 'email', 'URI'].some((kind) => names.includes(`${kind}:${name}`));
}
