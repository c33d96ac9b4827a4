import { X509Certificate } from 'node:crypto';
import { expect, test } from 'vitest';
import { asError, ConfigError } from '../../../src/runtime/errors.ts';
import { CLIENT_POLICIES, clientCertificateError } from '../../../src/web/tls.ts';
import { WebConfigFile, type WebRules } from '../../../src/web/web-config.ts';
import { certificateText } from '../../harness/certificates.ts';
import fc from '../../harness/fast-check.ts';

/** A bcrypt hash of `geheim`. */
const HASH = '$2y$04$u5WNi2lYZIEEOYL/Sl9Ny.TlR2KlYwhu6qm.FHqnBvPinc9tALXS.';

const names = ['server.crt', 'server.key', 'client.key', 'authority.crt'];
const files = new Map(names.map((name) => [`/etc/${name}`, certificateText(name)]));

function rulesOf(text: string): Promise<WebRules> {
  const file = new WebConfigFile('/etc/web.yml', async (path) => {
    const content = path === '/etc/web.yml' ? text : files.get(path);
    if (content === undefined) throw Object.assign(new Error(path), { code: 'ENOENT' });
    return content;
  });
  return file.readRules();
}

const tls = (...lines: readonly string[]) => `tls_server_config:\n${lines.map((line) => `  ${line}\n`).join('')}`;
/** TLS with a certificate and its key. */
const paired = (...lines: readonly string[]) => tls('cert_file: server.crt', 'key_file: server.key', ...lines);

test('a file that asks for nothing is plain HTTP for everybody', async () => {
  const {
    tls: none,
    users,
    headers,
    rateLimit,
  } = await rulesOf('tls_server_config: {}\nbasic_auth_users: {}\nrate_limit: {}\n');
  expect([none, users.size, headers, rateLimit]).toEqual([undefined, 0, {}, undefined]);
});

test('a file with every key is understood, and names its files relative to its folder', async () => {
  const rules = await rulesOf(`
${paired('client_auth_type: RequireAndVerifyClientCert', 'client_ca_file: authority.crt')}
  client_allowed_sans: [prometheus, "0:0::1"]
  min_version: TLS13
  max_version: TLS13
  cipher_suites: [TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256]
  curve_preferences: [X25519, CurveP256]
  prefer_server_cipher_suites: false
http_server_config:
  http2: true
  headers: { X-Content-Type-Options: nosniff, Strict-Transport-Security: max-age=63072000 }
basic_auth_users:
  me: &hash ${HASH}
  42: *hash
rate_limit: { interval: 1m30s, burst: 20 }
`);
  expect(rules.tls).toMatchObject({
    client: { isRequested: true, isRequired: true, isVerified: true },
    allowedNames: ['prometheus', '0:0::1'],
    expirySeconds: Date.UTC(2120, 0, 1) / 1000,
    options: { minVersion: 'TLSv1.3', maxVersion: 'TLSv1.3', honorCipherOrder: false, ecdhCurve: 'X25519:P-256' },
  });
  expect(rules.tls?.options).toMatchObject({ requestCert: true, rejectUnauthorized: true });
  expect(rules.tls?.options.ciphers).toMatch(/^TLS_AES_.*:ECDHE-RSA-AES128-GCM-SHA256$/);
  expect([...rules.users.keys()]).toEqual(['42', 'me']);
  expect(rules.headers).toMatchObject({ 'Strict-Transport-Security': 'max-age=63072000' });
  expect(rules.rateLimit).toEqual({ intervalMs: 90_000, burst: 20 });
});

test.each([
  ['1.5h', 5_400_000],
  ['250us', 0.25],
  ['250µs', 0.25],
  ['1m.5s2000000ns', 60_502],
])('the interval of a rate limit may be %s, as in Go', async (interval, intervalMs) => {
  const { rateLimit } = await rulesOf(`rate_limit: { interval: ${interval}, burst: 1 }`);
  expect(rateLimit).toEqual({ intervalMs, burst: 1 });
});

test('a file may contain certificate, key and authority itself', async () => {
  const inline = (key: string, name: string) =>
    `${key}: |\n    ${files.get(`/etc/${name}`)?.trimEnd().replaceAll('\n', '\n    ')}`;
  const texts = [inline('cert', 'server.crt'), inline('key', 'server.key'), inline('client_ca', 'authority.crt')];
  const { tls: rules } = await rulesOf(tls(...texts, 'client_auth_type: VerifyClientCertIfGiven'));
  expect(rules?.client).toMatchObject({ isRequired: false, isVerified: true });
  const defaults = { minVersion: 'TLSv1.2', maxVersion: 'TLSv1.3', honorCipherOrder: true, rejectUnauthorized: false };
  expect(rules?.options).toMatchObject(defaults);
});

test.each([
  ['', 'the file: expected key: value lines; write {} for an empty section'],
  ['tls_server_config:\n', 'tls_server_config: expected key: value lines'],
  [paired('min_version:'), 'tls_server_config.min_version: expected TLS12, TLS13'],
  ['basic_auth_userz: {}\n', 'the file: has an unknown key; did you mean basic_auth_users?'],
  ['rate_limit: { per: 1 }\n', 'rate_limit: has an unknown key; expected interval, burst'],
  ['rate_limit: { burst: 5 }\n', 'rate_limit.burst: has no effect without interval'],
  ['rate_limit: { interval: 5 }\n', 'rate_limit.interval: expected a duration with its unit'],
  ['rate_limit: { interval: 1d }\n', 'rate_limit.interval: expected a duration with its unit'],
  [paired('client_auth_type: Require'), 'tls_server_config.client_auth_type: expected NoClientCert, RequestClientCert'],
  ['basic_auth_users:\n  me: geheim\n', 'basic_auth_users: expected a bcrypt hash, not of the oldest kind'],
  [`basic_auth_users:\n  me: ${HASH.replace('$04$', '$15$')}\n`, 'basic_auth_users: expected a bcrypt hash'],
  [`basic_auth_users:\n  "a:b": ${HASH}\n`, 'basic_auth_users: expected a user name that is not empty'],
  ['basic_auth_users: *users\n', 'an alias (*) has no anchor (&) above it'],
  [`basic_auth_users:\n  me: ${HASH}\n  me: ${HASH}\n`, 'without tags (DUPLICATE_KEY)'],
  [`basic_auth_users:\n  [me]: ${HASH}\n`, 'line 2: expected YAML in one document, without tags (NON_STRING_KEY)'],
  ['{}\n---\n{}\n', 'line 2: expected YAML in one document, without tags (MULTIPLE_DOCS)'],
  [tls('cert_file: server.crt'), 'tls_server_config.key_file: is missing; expected it or key'],
  [paired('cert: x'), 'tls_server_config.cert: is set and so is cert_file; expected one of them'],
  [paired('min_version: TLS13', 'max_version: TLS12'), 'tls_server_config.min_version: is above max_version'],
  [paired('client_ca_file: authority.crt'), 'tls_server_config.client_ca: has no effect with this client_auth_type'],
  [paired('client_auth_type: VerifyClientCertIfGiven'), 'tls_server_config.client_auth_type: needs client_ca_file'],
  [paired('client_allowed_sans: [x]'), 'client_allowed_sans: has no effect with this client_auth_type'],
  [tls('cert_file: server.crt', 'key_file: "-----BEGIN\\nkey"'), 'key_file: expected the path of a file'],
  [tls('cert_file: nowhere.crt', 'key_file: server.key'), 'cert_file /etc/nowhere.crt cannot be read (ENOENT)'],
  [
    tls('cert_file: server.crt', 'key_file: client.key'),
    'OpenSSL rejected it (error:05800074:x509 certificate routines',
  ],
  [tls('cert_file: server.crt', 'key_file: server.crt'), 'tls_server_config.key: expected PEM without a passphrase'],
])('%j is rejected, with one line', async (text, error) => {
  await expect(rulesOf(text)).rejects.toMatchObject({ errors: [expect.stringContaining(error)] });
});

const USERS = `{ me: ${HASH} }`;
const PAIR = '{ cert_file: server.crt, key_file: server.key }';

/** A key that protects: a right value, the file up to the value, and whether it is in force. */
const protections: readonly [key: string, good: string, before: string, isInForce: (rules: WebRules) => boolean][] = [
  ['basic_auth_users', USERS, 'basic_auth_users: ', ({ users }) => users.size > 0],
  ['tls_server_config', PAIR, 'tls_server_config: ', (rules) => rules.tls !== undefined],
  ['client_auth_type', 'RequireAnyClientCert', paired('client_auth_type: '), (rules) => !!rules.tls?.client.isRequired],
  ['rate_limit', '{ interval: 1s, burst: 1 }', 'rate_limit: ', (rules) => rules.rateLimit !== undefined],
];

test.each(protections)('property: %s is in force, or an error without a value', async (_, good, before, isInForce) => {
  const yaml = ['*users', '&a ', '!!null ', '!!str ', '!!set ', '!other ', '<<', '~', 'null', '---', '%'];
  const marks = ['"', '""', '|', '{', '}', '[', ']', ',', ': ', '? ', '- ', '#', ' # x', '\n    ', '\t', '\u0000'];
  const keys = ['me', `~: ${HASH}`];
  const drawnPieces = fc.array(fc.constantFrom(...yaml, ...marks, ...keys), { maxLength: 3 });
  const pieces = drawnPieces.map((drawn) => drawn.join(''));
  const around = fc.tuple(pieces, pieces).map(([front, back]) => front + good + back);
  const readings = { rejected: 0, inForce: 0 };
  const property = fc.asyncProperty(fc.oneof({ weight: 2, arbitrary: around }, pieces), async (value) => {
    const rules = await rulesOf(`${before.trimEnd()} ${value}\n`).catch(asError);
    if (rules instanceof Error) {
      readings.rejected += 1;
      expect(rules).toBeInstanceOf(ConfigError);
      expect(rules.message).not.toContain(HASH.slice(8, 20));
    } else if (isInForce(rules)) readings.inForce += 1;
    // The text itself says that there is nothing.
    else expect(value).toMatch(/^(?:&a )?[[{\s]*[\]}][\s\]}]*(?:#.*)?$/);
  });
  await fc.assert(property, { numRuns: 150 });
  // Both happened, or the property says nothing.
  expect(Math.min(readings.rejected, readings.inForce)).toBeGreaterThan(5);
});

test('a client is admitted by any alternative name of its certificate, and by nothing that is a part of one', () => {
  const client = CLIENT_POLICIES.RequireAndVerifyClientCert;
  const isAdmitted = (certificate: Partial<X509Certificate>, name: string) => {
    const socket = { authorized: true, getPeerX509Certificate: () => certificate as X509Certificate };
    return clientCertificateError({ client, allowedNames: ['other', name] }, socket) === undefined;
  };
  const certificate = new X509Certificate(certificateText('client.crt'));
  const quoted = { subjectAltName: 'DNS:a.example, URI:"spiffe://b, DNS:c, DNS:d", email:me@example.com' };
  for (const name of ['prometheus', '0:0::1', 'spiffe://a/b', 'me@example.com'])
    expect(isAdmitted(certificate, name), name).toBe(true);
  const parts = ['a.example', 'me@example.com', 'c', 'd', 'example', 'DNS:a.example'];
  expect(parts.filter((name) => isAdmitted(quoted, name))).toEqual(['a.example', 'me@example.com']);
});
