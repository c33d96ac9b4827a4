import { GO_DURATION, goDurationMs } from './go-duration.ts';
import { CIPHER_SUITES, CLIENT_AUTH_TYPES, type ClientPolicy, CURVES, type TlsVersion, VERSIONS } from './tls-names.ts';
import type { ClientRateLimit } from './token-bucket.ts';
import { enumOf, mapping, readYaml, stringMatching } from './yaml.ts';

export type PemSource =
  | { readonly state: 'inline'; readonly text: string }
  | { readonly state: 'file'; readonly path: string };

export interface TlsSection<Pem = PemSource> {
  readonly certificate: Pem;
  readonly key: Pem;
  readonly clientCa: Pem | undefined;
  readonly client: ClientPolicy;
  /** A client's certificate must have one of these names; undefined for any name. */
  readonly allowedNames: readonly string[] | undefined;
  readonly minVersion: TlsVersion;
  readonly maxVersion: TlsVersion;
  /** The cipher suites by OpenSSL's names; undefined for the default. */
  readonly suites: readonly string[] | undefined;
  readonly curves: readonly string[] | undefined;
  readonly prefersOwnOrder: boolean;
}

/** A web configuration file, parsed and not yet in effect. */
export interface WebFile {
  /** Undefined serves plain HTTP. */
  readonly tls: TlsSection | undefined;
  readonly headers: Readonly<Record<string, string>>;
  /** Password hashes by user; without users no password is required. */
  readonly users: ReadonlyMap<string, string>;
  /** The rate limit; undefined for none. */
  readonly rate: ClientRateLimit | undefined;
}

/** The words of YAML 1.1, as Go's parser accepts them. */
const TRUE = ['y', 'Y', 'yes', 'Yes', 'YES', 'true', 'True', 'TRUE', 'on', 'On', 'ON'];
const FALSE = ['n', 'N', 'no', 'No', 'NO', 'false', 'False', 'FALSE', 'off', 'Off', 'OFF'];

const STRING = { type: 'string' };
const BOOLEAN = stringMatching(new RegExp(`^(?:${[...TRUE, ...FALSE].join('|')})$`), 'true or false');
const HEADER = stringMatching(/^[ -~]+$/, 'printable ASCII on one line');
const oneOf = (words: object) => enumOf(Object.keys(words));

/**
 * At a cost of 12 one check takes up to a second, and each one more doubles it: while one is checked, others wait. `$2$`
 * hashes are of a version with a known weakness.
 */
const HASH = stringMatching(
  /^\$2[aby]\$(?:0[4-9]|1[0-2])\$[./\dA-Za-z]{53}$/,
  'a bcrypt hash, not of the oldest kind, with a cost of 4 to 12; make one with htpasswd -nBC 10 ""',
);

const FILE = mapping({
  tls_server_config: mapping({
    cert: STRING,
    cert_file: STRING,
    key: STRING,
    key_file: STRING,
    client_ca: STRING,
    client_ca_file: STRING,
    client_auth_type: oneOf(CLIENT_AUTH_TYPES),
    client_allowed_sans: { type: 'array', items: STRING },
    min_version: oneOf(VERSIONS),
    max_version: oneOf(VERSIONS),
    cipher_suites: { type: 'array', items: oneOf(CIPHER_SUITES) },
    curve_preferences: { type: 'array', items: oneOf(CURVES) },
    prefer_server_cipher_suites: BOOLEAN,
  }),
  http_server_config: mapping({
    // The exporter always serves HTTP/1.1; the key is accepted for files shared with other exporters.
    http2: BOOLEAN,
    headers: mapping({
      'Strict-Transport-Security': HEADER,
      'X-Content-Type-Options': enumOf(['nosniff']),
      'X-Frame-Options': enumOf(['deny', 'sameorigin']),
      'X-XSS-Protection': HEADER,
      'Content-Security-Policy': HEADER,
    }),
  }),
  basic_auth_users: {
    type: 'object',
    propertyNames: stringMatching(/^[^:]+$/, 'a user name that is not empty and has no colon'),
    additionalProperties: HASH,
  },
  rate_limit: mapping(
    {
      interval: stringMatching(GO_DURATION, 'a duration with its unit, such as 500ms or 1m30s, or 0'),
      burst: stringMatching(/^(?:0|[1-9]\d{0,14})$/, 'a whole number'),
    },
    { dependencies: { burst: ['interval'] } },
  ),
});

/** The values that the schema admits. */
interface Checked {
  readonly tls_server_config?: CheckedTls;
  readonly http_server_config?: { readonly headers?: Readonly<Record<string, string>> };
  readonly basic_auth_users?: Readonly<Record<string, string>>;
  readonly rate_limit?: { readonly interval?: string; readonly burst?: string };
}

type CheckedTls = { readonly [Key in `${'cert' | 'key' | 'client_ca'}${'' | '_file'}`]?: string } & {
  readonly client_auth_type?: keyof typeof CLIENT_AUTH_TYPES;
  readonly client_allowed_sans?: readonly string[];
  readonly min_version?: keyof typeof VERSIONS;
  readonly max_version?: keyof typeof VERSIONS;
  readonly cipher_suites?: readonly string[];
  readonly curve_preferences?: readonly (keyof typeof CURVES)[];
  readonly prefer_server_cipher_suites?: string;
};

/**
 * Parses a file in the format of the Prometheus exporter toolkit (docs/web-configuration.md there), and returns one
 * line for each error. As strict as the toolkit: an unknown key is an error, because it would protect nothing.
 */
export function parseWebFile(text: string): { readonly file: WebFile; readonly errors: readonly string[] } {
  const { data, errors, addError } = readYaml(text, FILE);
  const file = (data ?? {}) as Checked;
  return {
    file: {
      tls: tlsOf(file.tls_server_config ?? {}, (key, what) => addError(['tls_server_config', key], what)),
      headers: file.http_server_config?.headers ?? {},
      users: new Map(Object.entries(file.basic_auth_users ?? {})),
      rate: rateOf(file.rate_limit ?? {}),
    },
    errors,
  };
}

type AddTlsError = (key: keyof CheckedTls, what: string) => void;

function tlsOf(section: CheckedTls, addError: AddTlsError): TlsSection | undefined {
  const certificate = pemOf(section, 'cert', addError);
  const key = pemOf(section, 'key', addError);
  const clientCa = pemOf(section, 'client_ca', addError);
  const client = CLIENT_AUTH_TYPES[section.client_auth_type ?? 'NoClientCert'];
  const minVersion = VERSIONS[section.min_version ?? 'TLS12'];
  const maxVersion = VERSIONS[section.max_version ?? 'TLS13'];
  if (minVersion > maxVersion) addError('min_version', 'is above max_version');
  // Combinations that cannot be enforced would admit clients that the operator means to exclude.
  if (clientCa !== undefined && !client.requested) {
    const key = section.client_ca === undefined ? 'client_ca_file' : 'client_ca';
    addError(key, 'has no effect without client_auth_type: RequireAndVerifyClientCert');
  }
  if (client.verified && clientCa === undefined) {
    addError('client_auth_type', 'needs client_ca_file or client_ca with the certificates to trust');
  }
  if (section.client_allowed_sans !== undefined && !client.required) {
    const types = 'RequireAndVerifyClientCert or RequireAnyClientCert';
    addError('client_allowed_sans', `has no effect without client_auth_type: ${types}`);
  }
  if ((certificate ?? key ?? clientCa ?? section.client_auth_type) === undefined) return undefined;
  if (certificate === undefined) addError('cert_file', 'is missing; expected it or cert');
  if (key === undefined) addError('key_file', 'is missing; expected it or key');
  if (certificate === undefined || key === undefined) return undefined;
  const { cipher_suites: suites = [], curve_preferences: curves = [] } = section;
  return {
    certificate,
    key,
    clientCa,
    client,
    minVersion,
    maxVersion,
    allowedNames: section.client_allowed_sans,
    suites: suites.length === 0 ? undefined : suites.map((name) => CIPHER_SUITES[name] ?? name),
    curves: curves.length === 0 ? undefined : curves.map((name) => CURVES[name]),
    prefersOwnOrder: !FALSE.includes(section.prefer_server_cipher_suites ?? 'true'),
  };
}

function pemOf(section: CheckedTls, key: 'cert' | 'key' | 'client_ca', addError: AddTlsError): PemSource | undefined {
  const { [key]: text, [`${key}_file` as const]: path } = section;
  if (text !== undefined && path !== undefined) addError(key, `is set and so is ${key}_file; expected one of them`);
  if (path !== undefined) return { state: 'file', path };
  return text === undefined ? undefined : { state: 'inline', text };
}

/** As in the toolkit: an interval of zero is no limit, and a missing burst is zero, which admits no request. */
function rateOf({ interval = '0', burst = '0' }: NonNullable<Checked['rate_limit']>): ClientRateLimit | undefined {
  const intervalMs = goDurationMs(interval);
  return intervalMs === 0 ? undefined : { intervalMs, burst: Number(burst) };
}
