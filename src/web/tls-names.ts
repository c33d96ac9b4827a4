import type { SecureVersion } from 'node:tls';

/** The names in the file format of the exporter toolkit, which are those of Go, with their names in Node.js. */

/** Suites of TLS 1.3. As in Go, all of them are always offered. */
export const TLS13_SUITES = {
  TLS_AES_128_GCM_SHA256: 'TLS_AES_128_GCM_SHA256',
  TLS_AES_256_GCM_SHA384: 'TLS_AES_256_GCM_SHA384',
  TLS_CHACHA20_POLY1305_SHA256: 'TLS_CHACHA20_POLY1305_SHA256',
} as const;

/** Suites of TLS 1.2 with authenticated encryption: the default. */
export const DEFAULT_SUITES = {
  TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256: 'ECDHE-ECDSA-AES128-GCM-SHA256',
  TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256: 'ECDHE-RSA-AES128-GCM-SHA256',
  TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384: 'ECDHE-ECDSA-AES256-GCM-SHA384',
  TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384: 'ECDHE-RSA-AES256-GCM-SHA384',
  TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256: 'ECDHE-ECDSA-CHACHA20-POLY1305',
  TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305_SHA256: 'ECDHE-RSA-CHACHA20-POLY1305',
} as const;

/** Older suites, the only ones below TLS 1.2. */
export const LEGACY_SUITES = {
  TLS_ECDHE_ECDSA_WITH_AES_128_CBC_SHA: 'ECDHE-ECDSA-AES128-SHA',
  TLS_ECDHE_RSA_WITH_AES_128_CBC_SHA: 'ECDHE-RSA-AES128-SHA',
  TLS_ECDHE_ECDSA_WITH_AES_256_CBC_SHA: 'ECDHE-ECDSA-AES256-SHA',
  TLS_ECDHE_RSA_WITH_AES_256_CBC_SHA: 'ECDHE-RSA-AES256-SHA',
} as const;

/** `cipher_suites`: the suites that Go's `tls.CipherSuites()` lists. */
export const CIPHER_SUITES: Readonly<Record<string, string>> = { ...TLS13_SUITES, ...DEFAULT_SUITES, ...LEGACY_SUITES };

export const CURVES = { CurveP256: 'P-256', CurveP384: 'P-384', CurveP521: 'P-521', X25519: 'X25519' } as const;

/** The versions, the oldest first. */
export const VERSIONS = {
  TLS10: 'TLSv1',
  TLS11: 'TLSv1.1',
  TLS12: 'TLSv1.2',
  TLS13: 'TLSv1.3',
} as const satisfies Record<string, SecureVersion>;

export type TlsVersion = (typeof VERSIONS)[keyof typeof VERSIONS];

/** Whether the handshake requests a certificate of the client, whether it is mandatory, whether it is verified. */
export interface ClientPolicy {
  readonly requested: boolean;
  readonly required: boolean;
  readonly verified: boolean;
}

const ANY: ClientPolicy = { requested: true, required: true, verified: false };

/** `client_auth_type`; `RequireClientCert` is the toolkit's older name of `RequireAnyClientCert`. */
export const CLIENT_AUTH_TYPES = {
  NoClientCert: { requested: false, required: false, verified: false },
  RequestClientCert: { requested: true, required: false, verified: false },
  RequireAnyClientCert: ANY,
  RequireClientCert: ANY,
  VerifyClientCertIfGiven: { requested: true, required: false, verified: true },
  RequireAndVerifyClientCert: { requested: true, required: true, verified: true },
} satisfies Readonly<Record<string, ClientPolicy>>;
