import { describe, expect, test } from 'vitest';
import { parseWebFile, type WebFile } from '../../src/web/web-config-schema.ts';
import fc from '../support/fast-check.ts';
import { GEHEIM } from '../web/asking.ts';

/*
 * A file that names what protects, and is read as if it did not, leaves the pages open. So whatever stands behind such a
 * key: the file has a fault, or what the key asks for is in force, or the text says by itself that there is nothing.
 */

const TLS = 'tls_server_config:\n  cert_file: a\n  key_file: b\n';
const hasUsers = ({ users }: WebFile) => users.size > 0;

/** Keys that protect: a value that is right, the file up to the value, and whether that is in force. */
const protections: readonly [key: string, good: string, before: string, isInForce: (file: WebFile) => boolean][] = [
  ['basic_auth_users', `{ me: ${GEHEIM} }`, 'basic_auth_users: ', hasUsers],
  ['a user', `me: ${GEHEIM}`, 'basic_auth_users:\n  ', hasUsers],
  ['tls_server_config', '{ cert_file: a, key_file: b }', 'tls_server_config: ', ({ tls }) => tls !== undefined],
  // Without an authority, which asks for a policy by itself.
  [
    'client_auth_type',
    'RequireAnyClientCert',
    `${TLS}  client_auth_type: `,
    ({ tls }) => tls?.client.requested === true,
  ],
  [
    'client_allowed_sans',
    '[prometheus]',
    `${TLS}  client_auth_type: RequireAnyClientCert\n  client_allowed_sans: `,
    ({ tls }) => tls?.allowedNames !== undefined,
  ],
  [
    'cipher_suites',
    '[TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256]',
    `${TLS}  cipher_suites: `,
    ({ tls }) => tls?.suites !== undefined,
  ],
  [
    'a header',
    '1; mode=block',
    'http_server_config:\n  headers:\n    X-XSS-Protection: ',
    ({ headers }) => headers['X-XSS-Protection'] !== undefined,
  ],
  ['rate_limit', '{ interval: 1s, burst: 1 }', 'rate_limit: ', ({ rate }) => rate !== undefined],
];

/** Whether a text says by itself that there is nothing, without its comments, anchors and tags. Blanks are YAML's. */
function saysNothing(text: string): boolean {
  const bare = text.replaceAll(/(?<=^|[ \t\n])#[^\n]*/g, '').replaceAll(/(?<=^|[ \t\n])[&!][^ \t\n]*/g, '');
  return /^[ \t\n]*(?:~|null|""|''|[>|][-+1-9]*|\{[ \t\n]*\}|\[[ \t\n]*\])?[ \t\n]*$/.test(bare);
}

/** What YAML makes something of, and what it makes nothing of. */
const pieces = fc.array(
  fc.constantFrom(
    ...['*users', '*a', '*', '&a', '&a ', '!', '!!null ', '!!str ', '!!map ', '!!set ', '!!binary ', '!other ', '<<'],
    ...['~', 'null', '"', "'", '""', '|', '>', '{', '}', '[', ']', ',', ': ', ':', '? ', '- ', '#', ' # x', ' '],
    ...['\n    '],
    ...[
      'me',
      '42',
      'a: b',
      `: ${GEHEIM}`,
      `~: ${GEHEIM}`,
      `{ ? : ${GEHEIM} }`,
      '[*a]',
      '[~]',
      '{ a: *a }',
      '{ <<: *a }',
    ],
    ...['%', '@', '`', '---', '...', '\t', '\\', '\u0000', '\u0085', '\u2028', '\ufeff', '__proto__'],
  ),
  { maxLength: 3 },
);

function valueAround(good: string): fc.Arbitrary<string> {
  return fc.oneof(
    { weight: 2, arbitrary: fc.tuple(pieces, pieces).map(([before, after]) => [...before, good, ...after].join('')) },
    { weight: 1, arbitrary: pieces.map((made) => made.join('')) },
    {
      weight: 1,
      arbitrary: fc.string({ unit: 'binary-ascii', maxLength: 12 }).map((made) => made.replaceAll(/[\r\n]/g, ' ')),
    },
  );
}

describe('a web configuration that names what protects', () => {
  test.each(protections)('has %s in force or a fault, whatever its value is', (_, good, before, isInForce) => {
    const readings = { faulty: 0, inForce: 0 };
    fc.assert(
      fc.property(valueAround(good), (value) => {
        const { file: read, errors } = parseWebFile(`${before}${value}\n`);
        if (errors.length > 0) readings.faulty += 1;
        else if (isInForce(read)) readings.inForce += 1;
        else expect({ value, saysNothing: saysNothing(value) }).toEqual({ value, saysNothing: true });
      }),
      { numRuns: 500 },
    );
    // Both are tried, or the rest says nothing.
    expect(Math.min(readings.faulty, readings.inForce)).toBeGreaterThan(10);
  });
});
