import { Ajv, type ErrorObject, type SchemaObject } from 'ajv';
import { LineCounter, parseDocument } from 'yaml';
import { ConfigError } from '../runtime/errors.ts';
import { likelyTypo } from '../runtime/suggest.ts';
import { CIPHER_SUITES, CLIENT_POLICIES, CURVES, VERSIONS } from './tls.ts';

/** A web configuration file that matches {@link FILE}. */
export interface WebFile {
  readonly tls_server_config?: TlsServerConfig;
  readonly http_server_config?: { readonly headers?: Readonly<Record<string, string>> };
  readonly basic_auth_users?: Readonly<Record<string, string>>;
  readonly rate_limit?: { readonly interval?: string | 0; readonly burst?: number };
}

export interface TlsServerConfig {
  readonly cert?: string;
  readonly cert_file?: string;
  readonly key?: string;
  readonly key_file?: string;
  readonly client_ca?: string;
  readonly client_ca_file?: string;
  readonly client_auth_type?: keyof typeof CLIENT_POLICIES;
  readonly client_allowed_sans?: readonly string[];
  readonly min_version?: keyof typeof VERSIONS;
  readonly max_version?: keyof typeof VERSIONS;
  readonly cipher_suites?: readonly (keyof typeof CIPHER_SUITES)[];
  readonly curve_preferences?: readonly (keyof typeof CURVES)[];
  readonly prefer_server_cipher_suites?: boolean;
}

const STRING = { type: 'string', minLength: 1, description: 'a text that is not empty' };
/** A key in the place of a path would be quoted by the error about the file. */
const PATH = { type: 'string', pattern: /^[^\r\n]+$/.source, description: 'the path of a file' };
const BOOLEAN = { type: 'boolean', description: 'true or false' };
const HEADER = { type: 'string', pattern: /^[ -~]+$/.source, description: 'printable ASCII on one line' };
const oneOf = (...names: readonly string[]) => ({ enum: names, description: names.join(', ') });
const listOf = (items: SchemaObject) => ({ type: 'array', items, description: 'a list of lines that begin with -' });

/** A mapping that has the listed keys and no others: an unknown key would protect nothing. */
const mapping = (properties: Readonly<Record<string, SchemaObject>>) => ({
  type: 'object',
  properties,
  additionalProperties: false,
  description: 'key: value lines; write {} for an empty section',
});

/** `$2$` hashes are of a version with a known weakness. At a cost of 14, one check takes seconds, and others wait for it. */
const HASH = {
  type: 'string',
  pattern: /^\$2[aby]\$(?:0[4-9]|1[0-4])\$[./\dA-Za-z]{53}$/.source,
  description: 'a bcrypt hash, not of the oldest kind, with a cost of 4 to 14; make one with htpasswd -nBC 10 ""',
};

/** The units of a duration in Go, in milliseconds; both characters for micro are in use. */
const UNITS_MS: Record<string, number> = { ns: 1e-6, us: 1e-3, µs: 1e-3, μs: 1e-3, ms: 1, s: 1e3, m: 60e3, h: 3600e3 };

const GO_DURATION = /^(?:0|(?:(?:\d+\.?\d*|\.\d+)(?:[nuµμm]?s|m|h))+)$/;

/** Returns the milliseconds of a text that matches {@link GO_DURATION}, such as `1.5h` or `1m30s`. */
export function goDurationMs(text: string): number {
  let ms = 0;
  for (const [, count, unit = ''] of text.matchAll(/([\d.]+)([^\d.]+)/g)) ms += Number(count) * (UNITS_MS[unit] ?? 0);
  return ms;
}

/** The file format of the Prometheus exporter toolkit (docs/web-configuration.md there). */
const FILE = mapping({
  tls_server_config: mapping({
    cert: STRING,
    cert_file: PATH,
    key: STRING,
    key_file: PATH,
    client_ca: STRING,
    client_ca_file: PATH,
    client_auth_type: oneOf(...Object.keys(CLIENT_POLICIES)),
    client_allowed_sans: listOf(STRING),
    min_version: oneOf(...Object.keys(VERSIONS)),
    max_version: oneOf(...Object.keys(VERSIONS)),
    cipher_suites: listOf(oneOf(...Object.keys(CIPHER_SUITES))),
    curve_preferences: listOf(oneOf(...Object.keys(CURVES))),
    prefer_server_cipher_suites: BOOLEAN,
  }),
  http_server_config: mapping({
    // The exporter always serves HTTP/1.1; the key is accepted for files shared with other exporters.
    http2: BOOLEAN,
    headers: mapping({
      'Strict-Transport-Security': HEADER,
      'X-Content-Type-Options': oneOf('nosniff'),
      'X-Frame-Options': oneOf('deny', 'sameorigin'),
      'X-XSS-Protection': HEADER,
      'Content-Security-Policy': HEADER,
    }),
  }),
  basic_auth_users: {
    type: 'object',
    propertyNames: { pattern: /^[^:]+$/.source, description: 'a user name that is not empty and has no colon' },
    additionalProperties: HASH,
    description: 'lines of a user: and the hash of the password; write {} for an empty section',
  },
  rate_limit: {
    ...mapping({
      interval: {
        anyOf: [{ const: 0 }, { type: 'string', pattern: GO_DURATION.source }],
        description: 'a duration with its unit, such as 500ms or 1m30s, or 0',
      },
      burst: { type: 'integer', minimum: 0, description: 'a whole number' },
    }),
    dependencies: { burst: ['interval'] },
  },
});

const validate = new Ajv({ allErrors: true, verbose: true }).compile<WebFile>(FILE);

/** Parses a file. Throws a ConfigError, which quotes no value. */
export function parseWebFile(text: string): WebFile {
  const lines = new LineCounter();
  // Pretty errors would quote the file, which may contain a key.
  const document = parseDocument(text, { lineCounter: lines, prettyErrors: false, stringKeys: true });
  // What the parser only warns of, such as an unknown tag, may be less than the file means to say.
  assertNone(
    [...document.errors, ...document.warnings].map(
      ({ code, pos }) => `line ${lines.linePos(pos[0]).line}: expected YAML in one document, without tags (${code})`,
    ),
  );
  let file: unknown;
  try {
    file = document.toJS();
  } catch {
    throw new ConfigError(['an alias (*) has no anchor (&) above it, or the aliases refer to each other too often']);
  }
  if (!validate(file)) throw new ConfigError([...new Set((validate.errors ?? []).flatMap(sentenceOf))]);
  assertNone(contradictions(file.tls_server_config ?? {}));
  return file;
}

function assertNone(errors: readonly string[]): void {
  if (errors.length > 0) throw new ConfigError(errors);
}

/** Combinations that cannot be enforced would admit clients that the operator means to exclude. */
function contradictions(tls: TlsServerConfig): readonly string[] {
  if (Object.keys(tls).length === 0) return [];
  const client = CLIENT_POLICIES[tls.client_auth_type ?? 'NoClientCert'];
  const { client_allowed_sans: names = [], min_version: minVersion = 'TLS12', max_version: maxVersion = 'TLS13' } = tls;
  const hasClientCa = (tls.client_ca ?? tls.client_ca_file) !== undefined;
  const isTwice = (key: 'cert' | 'key' | 'client_ca') => tls[key] !== undefined && tls[`${key}_file`] !== undefined;
  const errors: readonly (readonly [isWrong: boolean, error: string])[] = [
    [isTwice('cert'), 'cert: is set and so is cert_file; expected one of them'],
    [isTwice('key'), 'key: is set and so is key_file; expected one of them'],
    [isTwice('client_ca'), 'client_ca: is set and so is client_ca_file; expected one of them'],
    [(tls.cert ?? tls.cert_file) === undefined, 'cert_file: is missing; expected it or cert'],
    [(tls.key ?? tls.key_file) === undefined, 'key_file: is missing; expected it or key'],
    [minVersion > maxVersion, 'min_version: is above max_version'],
    [hasClientCa && !client.isRequested, 'client_ca: has no effect with this client_auth_type'],
    [client.isVerified && !hasClientCa, 'client_auth_type: needs client_ca_file or client_ca'],
    [names.length > 0 && !client.isRequired, 'client_allowed_sans: has no effect with this client_auth_type'],
  ];
  return errors.flatMap(([isWrong, error]) => (isWrong ? [`tls_server_config.${error}`] : []));
}

/** Only keys of the schema are named: another one may be a secret in the wrong place, as a password in that of its user. */
function sentenceOf({ keyword, schemaPath, params, parentSchema = {} }: ErrorObject): readonly string[] {
  const keys = Array.from(schemaPath.matchAll(/\/properties\/([^/]+)/g), ([, key]) => key);
  const place = keys.join('.') || 'the file';
  switch (keyword) {
    case 'additionalProperties': {
      const known = Object.keys(parentSchema.properties);
      const meant = likelyTypo(params.additionalProperty, known);
      const expected = meant === undefined ? `expected ${known.join(', ')}` : `did you mean ${meant}?`;
      return [`${place}: has an unknown key; ${expected}`];
    }
    case 'dependencies':
      return [`${place}.${params.property}: has no effect without ${params.missingProperty}`];
    case 'propertyNames':
      // Another error says what the name lacks.
      return [];
    default:
      return parentSchema.description === undefined ? [] : [`${place}: expected ${parentSchema.description}`];
  }
}
