import { goDurationMs } from './go-duration.ts';
import type { ClientRateLimit } from './rate-limit.ts';
import { type Placed, YamlFile, type YamlSection } from './section.ts';
import { CIPHER_SUITES, CLIENT_AUTH_TYPES, type ClientPolicy, CURVES, VERSIONS, type Version } from './tls-names.ts';

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
  readonly minVersion: Version;
  readonly maxVersion: Version;
  /** By OpenSSL's names; undefined for the default. */
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
  /** Undefined for no limit. */
  readonly rate: ClientRateLimit | undefined;
}

/**
 * Parses a file in the format of the Prometheus exporter toolkit (docs/web-configuration.md there), and returns one
 * line for each fault. As strict as the toolkit: an unknown key is a fault, because it would protect nothing.
 */
export function parseWebFile(text: string): { readonly file: WebFile; readonly faults: readonly string[] } {
  const yaml = new YamlFile(text);
  const top = yaml.top();
  const file = {
    tls: tlsOf(top.section('tls_server_config')),
    headers: headersOf(top.section('http_server_config')),
    users: usersOf(top.section('basic_auth_users')),
    rate: rateOf(top.section('rate_limit')),
  };
  top.end();
  return { file, faults: yaml.faults };
}

function tlsOf(section: YamlSection): TlsSection | undefined {
  const certificate = pemOf(section, 'cert');
  const key = pemOf(section, 'key');
  const clientCa = pemOf(section, 'client_ca');
  const authType = section.text('client_auth_type');
  const client = section.word('client_auth_type', CLIENT_AUTH_TYPES) ?? CLIENT_AUTH_TYPES.NoClientCert;
  const names = section.texts('client_allowed_sans');
  const minVersion = section.word('min_version', VERSIONS) ?? 'TLSv1.2';
  const maxVersion = section.word('max_version', VERSIONS) ?? 'TLSv1.3';
  const suites = section.words('cipher_suites', CIPHER_SUITES);
  const curves = section.words('curve_preferences', CURVES);
  const prefersOwnOrder = section.truth('prefer_server_cipher_suites') ?? true;
  section.end();
  if (minVersion > maxVersion) section.complain(1, 'min_version is above max_version');
  complainAboutClients(section, authType?.line ?? 1, client, clientCa, names);
  const isOn = certificate ?? key ?? clientCa ?? authType;
  if (isOn === undefined) return undefined;
  if (certificate === undefined) section.complain(1, 'cert_file or cert is missing');
  if (key === undefined) section.complain(1, 'key_file or key is missing');
  if (certificate === undefined || key === undefined) return undefined;
  return {
    ...{ certificate, key, clientCa, client, minVersion, maxVersion, prefersOwnOrder },
    allowedNames: names?.map(({ text }) => text),
    suites: suites?.length === 0 ? undefined : suites,
    curves: curves?.length === 0 ? undefined : curves,
  };
}

/** Combinations that cannot be enforced are rejected: they would admit clients that the operator means to exclude. */
function complainAboutClients(
  section: YamlSection,
  line: number,
  client: ClientPolicy,
  ca: PemSource | undefined,
  names: readonly Placed[] | undefined,
): void {
  if (ca !== undefined && !client.asked) {
    section.complain(line, 'client_ca_file has no effect without client_auth_type: RequireAndVerifyClientCert');
  }
  if (client.verified && ca === undefined) {
    section.complain(line, 'needs client_ca_file or client_ca with the certificates to trust', 'client_auth_type');
  }
  if (names !== undefined && !client.required) {
    const types = 'RequireAndVerifyClientCert or RequireAnyClientCert';
    section.complain(line, `client_allowed_sans has no effect without client_auth_type: ${types}`);
  }
}

function pemOf(section: YamlSection, key: 'cert' | 'key' | 'client_ca'): PemSource | undefined {
  const inline = section.text(key);
  const file = section.text(`${key}_file`);
  if (inline !== undefined && file !== undefined) {
    section.complain(file.line, `${key} and ${key}_file are both set; expected one of them`);
  }
  if (file !== undefined) return { state: 'file', path: file.text };
  return inline && { state: 'inline', text: inline.text };
}

/** The headers that may be set, as in the toolkit, and the allowed values if there are few. */
const HEADERS: Readonly<Record<string, readonly string[]>> = {
  'Strict-Transport-Security': [],
  'X-Content-Type-Options': ['nosniff'],
  'X-Frame-Options': ['deny', 'sameorigin'],
  'X-XSS-Protection': [],
  'Content-Security-Policy': [],
};

function headersOf(section: YamlSection): Readonly<Record<string, string>> {
  // The exporter always serves HTTP/1.1; the key is accepted for files shared with other exporters.
  section.truth('http2');
  const headers = section.section('headers');
  const found: Record<string, string> = {};
  for (const [name, few] of Object.entries(HEADERS)) {
    const value = headers.text(name);
    if (value === undefined) continue;
    if (few.length > 0 && !few.includes(value.text)) {
      headers.complain(value.line, `expected ${few.join(' or ')}`, name);
    } else if (!/^[ -~]+$/.test(value.text)) {
      headers.complain(value.line, 'expected printable ASCII on one line', name);
    } else found[name] = value.text;
  }
  headers.end();
  section.end();
  return found;
}

/** As in the toolkit: an interval of zero is no limit, and a missing burst is zero, which admits no request. */
function rateOf(section: YamlSection): ClientRateLimit | undefined {
  const interval = section.text('interval');
  const burst = section.text('burst');
  section.end();
  const intervalMs = interval && goDurationMs(interval.text);
  if (interval !== undefined && intervalMs === undefined) {
    section.complain(interval.line, 'expected a duration with its unit, such as 500ms or 1m30s, or 0', 'interval');
  }
  if (burst !== undefined && !/^(?:0|[1-9]\d{0,14})$/.test(burst.text)) {
    section.complain(burst.line, 'expected a whole number', 'burst');
  }
  if (burst !== undefined && interval === undefined) {
    section.complain(burst.line, 'burst has no effect without interval');
  }
  return intervalMs ? { intervalMs, burst: Number(burst?.text ?? 0) } : undefined;
}

/** At this cost one check takes seconds; each one more doubles it. */
const HIGHEST_COST = 18;

const MAKE_ONE = 'make one with htpasswd -nBC 10 ""';

function usersOf(section: YamlSection): ReadonlyMap<string, string> {
  const users = new Map<string, string>();
  for (const [name, { text, line }] of section.entries()) {
    const cost = Number(/^\$2[aby]\$(\d\d)\$[./\dA-Za-z]{53}$/.exec(text)?.[1]);
    if (text.startsWith('$2$')) {
      section.complain(line, `hashes of the oldest kind, $2$, are not supported; ${MAKE_ONE}`, name);
    } else if (Number.isNaN(cost)) {
      section.complain(line, `the value is not a bcrypt hash; ${MAKE_ONE}`, name);
    } else if (cost < 4 || cost > HIGHEST_COST) {
      section.complain(line, `the hash has the cost ${cost}; expected 4 to ${HIGHEST_COST}`, name);
    } else if (name === '' || name.includes(':')) {
      section.complain(line, 'a user name must not be empty or contain a colon', name);
    } else users.set(name, text);
  }
  return users;
}
