import { goDurationMs } from './go-duration.ts';
import type { ClientRateLimit } from './rate-limit.ts';
import { type Placed, YamlFile, type YamlSection } from './section.ts';
import { CIPHER_SUITES, CLIENT_AUTH_TYPES, type ClientPolicy, CURVES, VERSIONS, type Version } from './tls-names.ts';

/** A PEM text: in the file itself, or in another whose path is as written. */
export type PemSource =
  | { readonly state: 'inline'; readonly text: string }
  | { readonly state: 'file'; readonly path: string };

/** What the file says of TLS. */
export interface TlsSection {
  readonly certificate: PemSource;
  readonly key: PemSource;
  readonly clientCa: PemSource | undefined;
  readonly client: ClientPolicy;
  /** Names of which a client's certificate must have one; undefined for any. */
  readonly allowedNames: readonly string[] | undefined;
  readonly minVersion: Version;
  readonly maxVersion: Version;
  /** By OpenSSL's names; undefined for the usual ones. */
  readonly suites: readonly string[] | undefined;
  readonly curves: readonly string[] | undefined;
  readonly prefersOwnOrder: boolean;
}

/** A web configuration file, read and not yet put to use. */
export interface WebFile {
  /** Undefined serves plain HTTP. */
  readonly tls: TlsSection | undefined;
  readonly headers: Readonly<Record<string, string>>;
  /** Password hashes by user; nobody is asked for a password where there are none. */
  readonly users: ReadonlyMap<string, string>;
  /** Undefined lets in as many requests as come. */
  readonly rate: ClientRateLimit | undefined;
}

/**
 * Reads a file in the format of the Prometheus exporter toolkit (docs/web-configuration.md there), and says what is wrong
 * with it, a line each. As strict as the toolkit: a key that nobody knows is a fault, for it protects nothing.
 */
export function parseWebFile(text: string): { readonly file: WebFile; readonly faults: readonly string[] } {
  const yaml = new YamlFile(text);
  const top = yaml.top();
  const file = {
    tls: tlsOf(yaml, top.section('tls_server_config')),
    headers: headersOf(yaml, top.section('http_server_config')),
    users: usersOf(yaml, top.section('basic_auth_users')),
    rate: rateOf(yaml, top.section('rate_limit')),
  };
  top.end();
  return { file, faults: yaml.faults };
}

const PLACE = 'tls_server_config';

function tlsOf(yaml: YamlFile, section: YamlSection): TlsSection | undefined {
  const certificate = pemOf(yaml, section, 'cert');
  const key = pemOf(yaml, section, 'key');
  const clientCa = pemOf(yaml, section, 'client_ca');
  const authType = section.text('client_auth_type');
  const client = section.word('client_auth_type', CLIENT_AUTH_TYPES) ?? CLIENT_AUTH_TYPES.NoClientCert;
  const names = section.texts('client_allowed_sans');
  const minVersion = section.word('min_version', VERSIONS) ?? 'TLSv1.2';
  const maxVersion = section.word('max_version', VERSIONS) ?? 'TLSv1.3';
  const suites = section.words('cipher_suites', CIPHER_SUITES);
  const curves = section.words('curve_preferences', CURVES);
  const prefersOwnOrder = section.truth('prefer_server_cipher_suites') ?? true;
  section.end();
  if (minVersion > maxVersion) yaml.complain(1, `${PLACE}: min_version is above max_version`);
  if (client === undefined) return undefined;
  complainAboutClients(yaml, authType?.line ?? 1, client, clientCa, names);
  const isOn = certificate ?? key ?? clientCa ?? authType;
  if (isOn === undefined) return undefined;
  if (certificate === undefined) yaml.complain(1, `${PLACE}: expected cert_file or cert with the rest`);
  if (key === undefined) yaml.complain(1, `${PLACE}: expected key_file or key with the rest`);
  if (certificate === undefined || key === undefined) return undefined;
  return {
    ...{ certificate, key, clientCa, client, minVersion, maxVersion, prefersOwnOrder },
    allowedNames: names?.map(({ text }) => text),
    suites: suites?.length === 0 ? undefined : suites,
    curves: curves?.length === 0 ? undefined : curves,
  };
}

/** What cannot be kept is refused: it would let in whom the operator means to keep out. */
function complainAboutClients(
  yaml: YamlFile,
  line: number,
  client: ClientPolicy,
  ca: PemSource | undefined,
  names: readonly Placed[] | undefined,
): void {
  if (ca !== undefined && !client.asked) {
    yaml.complain(line, `${PLACE}: client_ca_file has no effect without client_auth_type: RequireAndVerifyClientCert`);
  }
  if (client.verified && ca === undefined) {
    yaml.complain(
      line,
      `${PLACE}.client_auth_type: expected client_ca_file or client_ca, whose certificates it trusts`,
    );
  }
  if (names !== undefined && !client.required) {
    const types = 'RequireAndVerifyClientCert or RequireAnyClientCert';
    yaml.complain(line, `${PLACE}: client_allowed_sans has no effect without client_auth_type: ${types}`);
  }
}

function pemOf(yaml: YamlFile, section: YamlSection, key: 'cert' | 'key' | 'client_ca'): PemSource | undefined {
  const inline = section.text(key);
  const file = section.text(`${key}_file`);
  if (inline !== undefined && file !== undefined) {
    yaml.complain(file.line, `${PLACE}: ${key} and ${key}_file are both there; expected one of them`);
  }
  if (file !== undefined) return { state: 'file', path: file.text };
  return inline && { state: 'inline', text: inline.text };
}

/** The headers that may be set, as in the toolkit, and the values of those that have few. */
const HEADERS: Readonly<Record<string, readonly string[]>> = {
  'Strict-Transport-Security': [],
  'X-Content-Type-Options': ['nosniff'],
  'X-Frame-Options': ['deny', 'sameorigin'],
  'X-XSS-Protection': [],
  'Content-Security-Policy': [],
};

function headersOf(yaml: YamlFile, section: YamlSection): Readonly<Record<string, string>> {
  // HTTP/1.1 is what is served either way: the key is there for files that are shared with other exporters.
  section.truth('http2');
  const headers = section.section('headers');
  const found: Record<string, string> = {};
  for (const name of Object.keys(HEADERS)) {
    const value = headers.text(name);
    if (value === undefined) continue;
    const few = HEADERS[name] ?? [];
    if (few.length > 0 && !few.includes(value.text)) {
      yaml.complain(value.line, `http_server_config.headers.${name}: expected ${few.join(' or ')}`);
    } else if (!/^[ -~]+$/.test(value.text)) {
      yaml.complain(value.line, `http_server_config.headers.${name}: expected printable ASCII on one line`);
    } else found[name] = value.text;
  }
  headers.end();
  section.end();
  return found;
}

/** As in the toolkit: an interval of zero is no limit, and a burst that is left out is zero, which lets nobody in. */
function rateOf(yaml: YamlFile, section: YamlSection): ClientRateLimit | undefined {
  const interval = section.text('interval');
  const burst = section.text('burst');
  section.end();
  const intervalMs = interval && goDurationMs(interval.text);
  if (interval !== undefined && intervalMs === undefined) {
    yaml.complain(
      interval.line,
      'rate_limit.interval: expected a duration with its unit, such as 500ms or 1m30s, or 0',
    );
  }
  if (burst !== undefined && !/^(?:0|[1-9]\d{0,14})$/.test(burst.text)) {
    yaml.complain(burst.line, 'rate_limit.burst: expected a whole number');
  }
  if (burst !== undefined && interval === undefined) {
    yaml.complain(burst.line, 'rate_limit: burst has no effect without interval');
  }
  return intervalMs ? { intervalMs, burst: Number(burst?.text ?? 0) } : undefined;
}

/** Up to this cost one check takes seconds; each one more doubles it. */
const HIGHEST_COST = 18;

const MAKE_ONE = `make one with htpasswd -nBC 10 ${'""'}`;

function usersOf(yaml: YamlFile, section: YamlSection): ReadonlyMap<string, string> {
  const users = new Map<string, string>();
  for (const [name, { text, line }] of section.entries()) {
    const cost = Number(/^\$2[aby]\$(\d\d)\$[./\dA-Za-z]{53}$/.exec(text)?.[1]);
    const user = section.nameOf(name);
    if (text.startsWith('$2$')) {
      yaml.complain(line, `${user}: no password can be checked against a hash of the oldest kind, $2$; ${MAKE_ONE}`);
    } else if (Number.isNaN(cost)) {
      yaml.complain(line, `${user}: the value is not a bcrypt hash; ${MAKE_ONE}`);
    } else if (cost < 4 || cost > HIGHEST_COST) {
      yaml.complain(line, `${user}: the hash has the cost ${cost}; expected 4 to ${HIGHEST_COST}`);
    } else if (name === '' || name.includes(':')) {
      yaml.complain(line, `${user}: a user's name is not empty and has no colon, which ends it in a request`);
    } else users.set(name, text);
  }
  return users;
}
