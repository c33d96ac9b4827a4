// Only here: a web configuration that the exporter-toolkit reads in another way.
import { describe, expect, test } from 'vitest';
import { parseWebFile } from '../../src/web/web-config-schema.ts';
import fc from '../support/fast-check.ts';
import { GEHEIM } from './asking.ts';

const errorsOf = (text: string) => parseWebFile(text).errors;
const tls = (...lines: readonly string[]) => `tls_server_config:\n${lines.map((line) => `  ${line}\n`).join('')}`;
const pair = ['cert_file: a.crt', 'key_file: a.key'];
const LOST = 'an alias has no anchor above it; expected one, or quotes around a text with *';
const MISSING = 'a key or its value is missing; write {} for an empty section';
const COSTLIEST = GEHEIM.replace('$04$', '$12$');
const HASH =
  'expected a bcrypt hash, not of the oldest kind, with a cost of 4 to 12; make one with htpasswd -nBC 10 ""';

describe('a web configuration file', () => {
  test.each([
    ['', 'line 1: the file is empty; write {} for an empty section'],
    ['# only a comment\n', 'line 1: the file is empty; write {} for an empty section'],
    ['---\n', 'line 1: the file is empty; write {} for an empty section'],
    ['tls_server_config:\n', `line 1: ${MISSING}`],
    ['{}\n---\n{}\n', 'line 2: a second document begins; expected one'],
    [tls(...pair, 'min_version:'), `line 4: ${MISSING}`],
    [tls(...pair, 'curve_preferences: ~'), `line 4: ${MISSING}`],
  ])('[empty-web-file] %j is a file cut off, and not one that asks for nothing', (text, fault) => {
    expect(errorsOf(text)).toEqual([fault]);
  });

  test.each(['{}', '{} # nothing\n', 'tls_server_config: {}\nbasic_auth_users: {}\n'])(
    '%j is plain HTTP for everybody',
    (text) => {
      const file = { tls: undefined, headers: {}, users: new Map(), rate: undefined };
      expect(parseWebFile(text)).toEqual({ file, errors: [] });
    },
  );

  test('with everything in it is understood', () => {
    const { file, errors } = parseWebFile(`
${tls(
  ...pair,
  'client_auth_type: "RequireAndVerifyClientCert"',
  'client_ca_file: ca.crt',
  'client_allowed_sans: [prometheus, 10.0.0.1]',
  'min_version: TLS12',
  'max_version: TLS13',
  'cipher_suites: [TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256]',
  'prefer_server_cipher_suites: false',
  'curve_preferences: [X25519]',
)}
http_server_config:
  http2: true
  headers: { X-Content-Type-Options: nosniff, Strict-Transport-Security: max-age=63072000 }
basic_auth_users:
  me: ${COSTLIEST}
rate_limit: { interval: 1m30s, burst: 20 }
`);
    expect(errors).toEqual([]);
    expect(file).toEqual({
      tls: {
        certificate: { state: 'file', path: 'a.crt' },
        key: { state: 'file', path: 'a.key' },
        clientCa: { state: 'file', path: 'ca.crt' },
        client: { requested: true, required: true, verified: true },
        allowedNames: ['prometheus', '10.0.0.1'],
        minVersion: 'TLSv1.2',
        maxVersion: 'TLSv1.3',
        suites: ['ECDHE-RSA-AES128-GCM-SHA256'],
        curves: ['X25519'],
        prefersOwnOrder: false,
      },
      headers: { 'X-Content-Type-Options': 'nosniff', 'Strict-Transport-Security': 'max-age=63072000' },
      users: new Map([['me', COSTLIEST]]),
      rate: { intervalMs: 90_000, burst: 20 },
    });
  });

  test('may say a thing once and refer to it: an alias counts as what its anchor is at', () => {
    const { file, errors } = parseWebFile(`
${tls(...pair, 'client_auth_type: RequireAnyClientCert', 'client_allowed_sans: [&name one, two]')}
basic_auth_users:
  me: &hash ${GEHEIM}
  *name : *hash
`);
    expect(errors).toEqual([]);
    expect(file.tls?.allowedNames).toEqual(['one', 'two']);
    expect(Object.fromEntries(file.users)).toEqual({ me: GEHEIM, one: GEHEIM });
  });

  test.each([
    [true, ['y', 'Y', 'yes', 'Yes', 'YES', 'true', 'True', 'TRUE', 'on', 'On', 'ON']],
    [false, ['n', 'N', 'no', 'No', 'NO', 'false', 'False', 'FALSE', 'off', 'Off', 'OFF']],
  ])('says %s in every word that the toolkit takes for it', (truth, words) => {
    for (const word of words) {
      const { file, errors } = parseWebFile(tls(...pair, `prefer_server_cipher_suites: ${word}`));
      expect([word, file.tls?.prefersOwnOrder, errors]).toEqual([word, truth, []]);
    }
  });

  test.each([
    ['interval: 0', undefined],
    ['interval: 0s, burst: 5', undefined],
    ['interval: "0", burst: 0', undefined],
    ['interval: 1s', { intervalMs: 1_000, burst: 0 }],
    ['interval: "1s", burst: 0', { intervalMs: 1_000, burst: 0 }],
    ['interval: 1h1m1s1ms, burst: 1', { intervalMs: 3_661_001, burst: 1 }],
    ['interval: 1.5h, burst: 1', { intervalMs: 5_400_000, burst: 1 }],
    ['interval: +.5s, burst: 1', { intervalMs: 500, burst: 1 }],
    ['interval: 250us, burst: 1', { intervalMs: 0.25, burst: 1 }],
    ['interval: 250\u00b5s, burst: 1', { intervalMs: 0.25, burst: 1 }],
    ['interval: 250\u03bcs, burst: 1', { intervalMs: 0.25, burst: 1 }],
    ['interval: 500000ns, burst: 1', { intervalMs: 0.5, burst: 1 }],
    ['', undefined],
  ])('rate_limit { %s } is what it is for the toolkit', (text, rate) => {
    expect(parseWebFile(`rate_limit: { ${text} }\n`)).toMatchObject({ file: { rate }, errors: [] });
  });

  test.each([
    [
      'a: 1\nb: 2\n',
      [
        'line 1: a: unknown key; expected tls_server_config, http_server_config, basic_auth_users, rate_limit',
        'line 2: b: unknown key; expected tls_server_config, http_server_config, basic_auth_users, rate_limit',
      ],
    ],
    [
      'http_server_config:\n  headers:\n    X-Frame-Options: maybe\n',
      ['line 3: http_server_config.headers.X-Frame-Options: maybe is not known; expected deny, sameorigin'],
    ],
    [
      'http_server_config:\n  headers:\n    Set-Cookie: a\n',
      [
        'line 3: http_server_config.headers.Set-Cookie: unknown key; expected Strict-Transport-Security, X-Content-Type-Options, X-Frame-Options, X-XSS-Protection, Content-Security-Policy',
      ],
    ],
    ['basic_auth_users:\n  me: geheim\n', [`line 2: basic_auth_users.me: ${HASH}`]],
    [`basic_auth_users:\n  me: ${GEHEIM.replace('$04$', '$13$')}\n`, [`line 2: basic_auth_users.me: ${HASH}`]],
    [
      `basic_auth_users:\n  "a:b": ${GEHEIM}\n`,
      ['line 2: basic_auth_users.a key: expected a user name that is not empty and has no colon'],
    ],
    [`basic_auth_users:\n  me: ${GEHEIM.replace('$2y$', '$2$')}\n`, [`line 2: basic_auth_users.me: ${HASH}`]],
    [
      `basic_auth_users:\n  "": ${GEHEIM}\n`,
      ['line 2: basic_auth_users.a key: expected a user name that is not empty and has no colon'],
    ],
    ['rate_limit:\n  burst: 5\n', ['line 2: rate_limit.burst: has no effect without interval']],
    ...['5', '-1s', '1', '1d', 'soon', '1s 1s'].map((interval): [string, string[]] => [
      `rate_limit:\n  interval: ${interval}\n  burst: 1\n`,
      ['line 2: rate_limit.interval: expected a duration with its unit, such as 500ms or 1m30s, or 0'],
    ]),
    ...['-1', '1.5', '010', 'many'].map((burst): [string, string[]] => [
      `rate_limit:\n  interval: 1s\n  burst: ${burst}\n`,
      ['line 3: rate_limit.burst: expected a whole number'],
    ]),
    ['rate_limit: { bursts: 5 }\n', ['line 1: rate_limit.bursts: unknown key; did you mean burst?']],
    [
      'http_server_config: { rate_limit: {} }\n',
      ['line 1: http_server_config.rate_limit: unknown key; expected http2, headers'],
    ],
    ['basic_auth_users: [a]\n', ['line 1: basic_auth_users: expected key: value lines']],
    ['- a\n', ['line 1: the file: expected key: value lines']],
    [`basic_auth_users:\n  me: ${GEHEIM}\n  me: ${GEHEIM}\n`, ['line 3: a key is repeated']],
    [`basic_auth_users:\n  42: ${GEHEIM}\n  "42": ${GEHEIM}\n`, ['line 3: a key is repeated']],
    ['tls_server_config:\n\tcert_file: a\n', ['line 2: a tab indents the line; expected spaces']],
    ['a: b: c\n', ['line 1: is not YAML (BLOCK_AS_IMPLICIT_KEY)']],
  ])('%j is refused with the line and words', (text, errors) => {
    expect(errorsOf(text).slice(0, errors.length)).toEqual(errors);
  });

  test.each([
    ['min_versoin: TLS12', 'min_versoin: unknown key; did you mean min_version?'],
    ['min_version: TLS14', 'min_version: TLS14 is not known; expected TLS10, TLS11, TLS12, TLS13'],
    [
      'cipher_suites: [TLS_AES_128_GCM_SHA2]',
      'cipher_suites: TLS_AES_128_GCM_SHA2 is not known; did you mean TLS_AES_',
    ],
    ['curve_preferences: [P256]', 'curve_preferences: P256 is not known; expected CurveP256, CurveP384, CurveP521'],
    ['curve_preferences: X25519', 'curve_preferences: expected a list of lines that begin with -'],
    ['prefer_server_cipher_suites: perhaps', 'prefer_server_cipher_suites: expected true or false'],
  ])('%j is refused as a line of TLS, in words', (line, words) => {
    expect(errorsOf(tls(...pair, line))[0]).toContain(`line 4: tls_server_config.${words}`);
  });

  const CHECKED = 'client_auth_type: RequireAndVerifyClientCert';
  test.each<[readonly string[], number, string]>([
    [[...pair, 'min_version: TLS13', 'max_version: TLS12'], 4, 'min_version: is above max_version'],
    [[...pair, 'cert: x'], 4, 'cert: is set and so is cert_file; expected one of them'],
    [['key_file: a.key'], 1, 'cert_file: is missing; expected it or cert'],
    [['cert_file: a.crt'], 1, 'key_file: is missing; expected it or key'],
    [[...pair, 'client_ca: ca'], 4, `client_ca: has no effect without ${CHECKED}`],
    [[...pair, 'client_ca_file: ca.crt'], 4, `client_ca_file: has no effect without ${CHECKED}`],
    [[...pair, CHECKED], 4, 'client_auth_type: needs client_ca_file or client_ca with the certificates to trust'],
    [
      [...pair, 'client_auth_type: RequestClientCert', 'client_allowed_sans: [x]'],
      5,
      `client_allowed_sans: has no effect without ${CHECKED} or RequireAnyClientCert`,
    ],
  ])('%j are rejected together as TLS, with the line of the key', (lines, line, words) => {
    expect(errorsOf(tls(...lines))[0]).toBe(`line ${line}: tls_server_config.${words}`);
  });

  // Whatever is taken for nothing in these leaves a door open: no password, no certificate, no TLS.
  test.each([
    ['users', 'basic_auth_users: *users\n', `line 1: ${LOST}`],
    ['the policy', tls(...pair, 'client_auth_type: *mode'), `line 4: ${LOST}`],
    [
      'one of them, where a pattern is not in quotes',
      tls(...pair, 'client_auth_type: RequireAnyClientCert', 'client_allowed_sans:', '  - *.example.com'),
      `line 6: ${LOST}`,
    ],
    ['a hash', 'basic_auth_users:\n  me: *hash\n', `line 2: ${LOST}`],
    ['a user', `basic_auth_users:\n  *me : ${GEHEIM}\n`, `line 2: ${LOST}`],
    ['everything', '*all\n', `line 1: ${LOST}`],
    ['users, and its anchor follows', 'basic_auth_users: *a\nrate_limit: &a {}\n', `line 1: ${LOST}`],
  ])('is refused where an alias stands for nothing in the place of %s', (_, text, fault) => {
    expect(errorsOf(text)).toContain(fault);
  });

  test.each([
    ['a user without a name', `basic_auth_users:\n  : ${GEHEIM}\n`, `line 2: ${MISSING}`],
    ['a user by the name of null', `basic_auth_users:\n  null: ${GEHEIM}\n`, `line 2: ${MISSING}`],
    ['a tag', `basic_auth_users:\n  me: !!int ${GEHEIM}\n`, 'line 2: a tag (!) is not supported; remove it'],
    [
      'aliases that multiply',
      `a: &a [x, x]\nb: &b [${Array(60).fill('*a').join()}]\nc: [${Array(60).fill('*b').join()}]\n`,
      'line 1: the aliases refer to each other too often',
    ],
    ['a section without a name', `~:\n  me: ${GEHEIM}\n`, `line 1: ${MISSING}`],
    ['a list as a user', `basic_auth_users:\n  [me]: ${GEHEIM}\n`, 'line 2: a key is not a single value'],
    ['a merge key', `basic_auth_users:\n  <<: { me: ${GEHEIM} }\n`, `line 2: basic_auth_users.a key: ${HASH}`],
    [
      'a merge key by YAML 1.1',
      `%YAML 1.1\n---\nbasic_auth_users:\n  <<: { me: x }\n`,
      `line 4: basic_auth_users.a key: ${HASH}`,
    ],
    ['an empty item', tls(...pair, 'cipher_suites:', '  -'), `line 5: ${MISSING}`],
  ])('is refused for %s, and not read as if it were not there', (_, text, fault) => {
    expect(errorsOf(text)).toEqual([fault]);
  });

  test('[strict-web-file] whatever it holds, there is no exception, and no fault quotes a value', () => {
    const canary = 'canary-5ec1e7';
    const words = fc.constantFrom(
      ...['tls_server_config', 'cert_file', 'key', 'basic_auth_users', 'headers', '<<', '__proto__'],
    );
    const values = fc.constantFrom(
      canary,
      `"${canary}`,
      `[${canary}`,
      `*${canary}`,
      `{a: ${canary}}`,
      '|',
      '&a',
      '!!int',
      '',
    );
    const lines = fc.array(fc.tuple(fc.constantFrom('', '  ', '    ', '\t', '- '), words, values), { maxLength: 6 });
    fc.assert(
      fc.property(lines, (made) => {
        const text = made.map(([indent, key, value]) => `${indent}${key}: ${value}`).join('\n');
        for (const fault of errorsOf(text)) {
          expect(fault).toMatch(/^line \d+: \S/);
          expect(fault).not.toContain(canary);
        }
      }),
      { numRuns: 500 },
    );
    fc.assert(fc.property(fc.string({ unit: 'binary' }), (text) => void errorsOf(text)));
  });
});
