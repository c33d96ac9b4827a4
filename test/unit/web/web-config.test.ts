import { describe, expect, test } from 'vitest';
import { alternativeNames } from '../../../src/web/tls.ts';
import { readWebRules, type WebRules } from '../../../src/web/web-config.ts';
import { certificateText } from '../../harness/certificates.ts';
import fc from '../../harness/fast-check.ts';

/** A bcrypt hash of `geheim`. */
const HASH = '$2y$04$u5WNi2lYZIEEOYL/Sl9Ny.TlR2KlYwhu6qm.FHqnBvPinc9tALXS.';

const files: Readonly<Record<string, string>> = {
  '/etc/server.crt': certificateText('server.crt'),
  '/etc/server.key': certificateText('server.key'),
  '/etc/client.key': certificateText('client.key'),
  '/etc/authority.crt': certificateText('authority.crt'),
};

function read(text: string) {
  return readWebRules('/etc/web.yml', async (path) => {
    const content = path === '/etc/web.yml' ? text : files[path];
    if (content === undefined) throw Object.assign(new Error(path), { code: 'ENOENT' });
    return content;
  });
}

async function rulesOf(text: string): Promise<WebRules> {
  const result = await read(text);
  if (result.state === 'invalid') throw new Error(result.errors.join('; '));
  return result.rules;
}

async function errorsOf(text: string): Promise<readonly string[]> {
  const result = await read(text);
  return result.state === 'invalid' ? result.errors : [];
}

const pair = ['cert_file: server.crt', 'key_file: server.key'];
const clients = ['client_auth_type: RequireAndVerifyClientCert', 'client_ca_file: authority.crt'];
const tls = (...lines: readonly string[]) => `tls_server_config:\n${lines.map((line) => `  ${line}\n`).join('')}`;

describe('a file in the format of the exporter toolkit', () => {
  test.each(['{}', '{} # nothing\n', 'tls_server_config: {}\nbasic_auth_users: {}\n'])(
    'that asks for nothing is plain HTTP for everybody: %j',
    async (text) => {
      const { tls, users, headers, rateLimit } = await rulesOf(text);
      expect([tls, users.size, headers, rateLimit]).toEqual([undefined, 0, {}, undefined]);
    },
  );

  test('with every key is understood, and names its files relative to its folder', async () => {
    const more = ['client_allowed_sans: [prometheus, "0:0::1"]', 'min_version: TLS13', 'max_version: TLS13'];
    const suites = ['cipher_suites: [TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256]', 'curve_preferences: [X25519, CurveP256]'];
    const rules = await rulesOf(`
${tls(...pair, ...clients, ...more, ...suites, 'prefer_server_cipher_suites: false')}
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
      allowedNames: new Set(['prometheus', '::1']),
      expirySeconds: Date.UTC(2120, 0, 1) / 1000,
      options: {
        minVersion: 'TLSv1.3',
        maxVersion: 'TLSv1.3',
        honorCipherOrder: false,
        ecdhCurve: 'X25519:P-256',
        requestCert: true,
        rejectUnauthorized: true,
      },
    });
    expect(rules.tls?.options.ciphers).toMatch(/^TLS_AES_.*:ECDHE-RSA-AES128-GCM-SHA256$/);
    expect([...rules.users.keys()]).toEqual(['42', 'me']);
    expect(rules.headers).toMatchObject({ 'Strict-Transport-Security': 'max-age=63072000' });
    expect(rules.rateLimit).toEqual({ intervalMs: 90_000, burst: 20 });
    expect(rules.ownFiles).toEqual([
      { path: '/etc/web.yml', isSecret: true },
      { path: '/etc/server.key', isSecret: true },
    ]);
  });

  test('may contain certificate, key and authority itself', async () => {
    const inline = (key: string, name: string) =>
      `${key}: |\n    ${(files[name] ?? '').trimEnd().replaceAll('\n', '\n    ')}`;
    const text = tls(
      inline('cert', '/etc/server.crt'),
      inline('key', '/etc/server.key'),
      inline('client_ca', '/etc/authority.crt'),
      'client_auth_type: VerifyClientCertIfGiven',
    );
    expect((await rulesOf(text)).tls?.client).toMatchObject({ isRequired: false, isVerified: true });
  });

  test.each([
    ['', undefined],
    ['interval: 0, burst: 5', undefined],
    ['interval: 1s', { intervalMs: 1_000, burst: 0 }],
  ])('rate_limit { %s } means what it means for the toolkit', async (text, limit) => {
    expect((await rulesOf(`rate_limit: { ${text} }\n`)).rateLimit).toEqual(limit);
  });
});

describe('a file is rejected', () => {
  const MAPPING = 'expected key: value lines; write {} for an empty section';
  const BCRYPT =
    'expected a bcrypt hash, not of the oldest kind, with a cost of 4 to 14; make one with htpasswd -nBC 10 ""';
  test.each<[why: string, text: string, error: string]>([
    ['if it is empty, as after a failed write', '', `the file: ${MAPPING}`],
    ['if a section is cut off', 'tls_server_config:\n', `tls_server_config: ${MAPPING}`],
    ['if a value is cut off', tls(...pair, 'min_version:'), 'tls_server_config.min_version: expected TLS12, TLS13'],
    ['if a key is mistyped', 'basic_auth_userz: {}\n', 'basic_auth_userz: unknown key; did you mean basic_auth_users?'],
    ['if a key is unknown', 'rate_limit: { per: 1 }\n', 'rate_limit.per: unknown key; expected interval, burst'],
    [
      'if a value is none of the known ones',
      tls(...pair, 'client_auth_type: Require'),
      'tls_server_config.client_auth_type: expected NoClientCert, RequestClientCert, RequireAnyClientCert, RequireClientCert, VerifyClientCertIfGiven, RequireAndVerifyClientCert',
    ],
    ['if a password is not hashed', 'basic_auth_users:\n  me: geheim\n', `basic_auth_users.me: ${BCRYPT}`],
    [
      'if a hash would take seconds',
      `basic_auth_users:\n  me: ${HASH.replace('$04$', '$15$')}\n`,
      `basic_auth_users.me: ${BCRYPT}`,
    ],
    [
      'if a user has no name',
      `basic_auth_users:\n  "": ${HASH}\n`,
      'basic_auth_users.a key: expected a user name that is not empty and has no colon',
    ],
    [
      'if an alias has no anchor',
      'basic_auth_users: *users\n',
      'an alias (*) has no anchor (&) above it, or the aliases refer to each other too often',
    ],
    [
      'if a key is repeated',
      `basic_auth_users:\n  me: ${HASH}\n  me: ${HASH}\n`,
      'line 3: expected YAML in one document, without tags (DUPLICATE_KEY)',
    ],
    [
      'if a user is a list',
      `basic_auth_users:\n  [me]: ${HASH}\n`,
      'line 2: expected YAML in one document, without tags (NON_STRING_KEY)',
    ],
    [
      'if a second document follows',
      '{}\n---\n{}\n',
      'line 2: expected YAML in one document, without tags (MULTIPLE_DOCS)',
    ],
    [
      'if a tag changes a value',
      `basic_auth_users:\n  me: !other ${HASH}\n`,
      'line 2: expected YAML in one document, without tags (TAG_RESOLVE_FAILED)',
    ],
    [
      'if the key is missing',
      tls('cert_file: server.crt'),
      'tls_server_config.key_file: is missing; expected it or key',
    ],
    [
      'if the certificate is there twice',
      tls(...pair, 'cert: x'),
      'tls_server_config.cert: is set and so is cert_file; expected one of them',
    ],
    [
      'if no version remains',
      tls(...pair, 'min_version: TLS13', 'max_version: TLS12'),
      'tls_server_config.min_version: is above max_version',
    ],
    [
      'if an authority has no effect',
      tls(...pair, 'client_ca_file: authority.crt'),
      'tls_server_config.client_ca: has no effect without client_auth_type: RequireAndVerifyClientCert',
    ],
    [
      'if clients are to be verified by nobody',
      tls(...pair, 'client_auth_type: RequireAndVerifyClientCert'),
      'tls_server_config.client_auth_type: needs client_ca_file or client_ca with the certificates to trust',
    ],
    [
      'if names have no effect',
      tls(...pair, 'client_allowed_sans: [x]'),
      'tls_server_config.client_allowed_sans: has no effect without client_auth_type: RequireAndVerifyClientCert or RequireAnyClientCert',
    ],
    ['if a burst has no effect', 'rate_limit: { burst: 5 }\n', 'rate_limit.burst: has no effect without interval'],
    [
      'if an interval has no unit',
      'rate_limit: { interval: 5 }\n',
      'rate_limit.interval: expected a duration with its unit, such as 500ms or 1m30s, or 0',
    ],
    [
      'if a file is missing',
      tls('cert_file: nowhere.crt', 'key_file: server.key'),
      'cert_file /etc/nowhere.crt cannot be read (ENOENT)',
    ],
    [
      'if the key is of another certificate',
      tls('cert_file: server.crt', 'key_file: client.key'),
      'cert_file server.crt and key_file client.key do not match; expected a certificate and its own key',
    ],
    [
      'if the key is none',
      tls('cert_file: server.crt', 'key_file: server.crt'),
      'key_file server.crt cannot be used; expected PEM without a passphrase, as in -----BEGIN PRIVATE KEY-----',
    ],
  ])('%s', async (_, text, error) => {
    expect(await errorsOf(text)).toEqual([error]);
  });

  test('and no error quotes a value, whatever the file contains', async () => {
    const canary = 'canary-5ec1e7';
    const keys = fc.constantFrom('tls_server_config', 'cert_file', 'key', 'basic_auth_users', 'headers', '<<', canary);
    const values = fc.constantFrom(
      canary,
      `"${canary}`,
      `[${canary}`,
      `*${canary}`,
      `{a: ${canary}}`,
      '|',
      '!!int',
      '',
    );
    const lines = fc.array(fc.tuple(fc.constantFrom('', '  ', '\t', '- '), keys, values), { maxLength: 6 });
    await fc.assert(
      fc.asyncProperty(lines, async (drawn) => {
        const text = drawn.map(([indent, key, value]) => `${indent}${key}: ${value}`).join('\n');
        const errors = (await errorsOf(text)).filter((error) => !error.includes('cannot be read'));
        for (const error of errors) expect(error).not.toContain(canary);
      }),
      { numRuns: 150 },
    );
  });
});

/** A key that protects: a right value, the file up to the value, and whether it is in force. */
const protections: readonly [key: string, good: string, before: string, isInForce: (rules: WebRules) => boolean][] = [
  ['basic_auth_users', `{ me: ${HASH} }`, 'basic_auth_users: ', ({ users }) => users.size > 0],
  ['a user', `me: ${HASH}`, 'basic_auth_users:\n  ', ({ users }) => users.size > 0],
  ['tls_server_config', `{ ${pair.join(', ')} }`, 'tls_server_config: ', (rules) => rules.tls !== undefined],
  [
    'client_auth_type',
    'RequireAnyClientCert',
    `${tls(...pair)}  client_auth_type: `,
    (rules) => rules.tls?.client.isRequired === true,
  ],
  [
    'client_allowed_sans',
    '[prometheus]',
    `${tls(...pair, 'client_auth_type: RequireAnyClientCert')}  client_allowed_sans: `,
    (rules) => rules.tls?.allowedNames !== undefined,
  ],
  ['rate_limit', '{ interval: 1s, burst: 1 }', 'rate_limit: ', (rules) => rules.rateLimit !== undefined],
];

test.each(protections)(
  'property: what %s asks for is in force or an error, whatever its value is',
  async (_, good, before, isInForce) => {
    const yaml = [
      '*users',
      '&a ',
      '!!null ',
      '!!str ',
      '!!set ',
      '!other ',
      '<<',
      '~',
      'null',
      '"',
      '""',
      '|',
      '{',
      '}',
    ];
    const more = [
      '[',
      ']',
      ',',
      ': ',
      '? ',
      '- ',
      '#',
      ' # x',
      '\n    ',
      'me',
      `~: ${HASH}`,
      '%',
      '---',
      '\t',
      '\u0000',
    ];
    const pieces = fc.array(fc.constantFrom(...yaml, ...more), { maxLength: 3 }).map((drawn) => drawn.join(''));
    const around = fc.tuple(pieces, pieces).map(([front, back]) => front + good + back);
    const readings = { rejected: 0, inForce: 0 };
    await fc.assert(
      fc.asyncProperty(fc.oneof({ weight: 2, arbitrary: around }, pieces), async (value) => {
        const result = await read(`${before}${value}\n`);
        if (result.state === 'invalid') readings.rejected += 1;
        else if (isInForce(result.rules)) readings.inForce += 1;
        else expect(value).toMatch(/^(?:&a )?[[{\s]*[\]}][\s\]}]*(?:#.*)?$/);
      }),
      { numRuns: 150 },
    );
    // Both happened, or the property says nothing.
    expect(Math.min(readings.rejected, readings.inForce)).toBeGreaterThan(5);
  },
);

test('the alternative names of a certificate are read whatever they contain', () => {
  const subjectAltName = 'DNS:a.example, URI:"spiffe://b, DNS:c", email:me@example.com, IP Address:0:0:0:0:0:0:0:1';
  expect(alternativeNames({ subjectAltName })).toEqual(['a.example', 'spiffe://b, DNS:c', 'me@example.com', '::1']);
});
