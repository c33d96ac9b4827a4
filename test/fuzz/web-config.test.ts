import { describe, expect, test } from 'vitest';
import { parseWebFile, type WebFile } from '../../src/web/file-format.ts';
import fc from '../support/fast-check.ts';
import { GEHEIM } from '../web/asking.ts';

/*
 * A file that names what protects, and is read as if it did not, leaves the pages open. So whatever stands behind such a
 * key: the file has a fault, or what the key asks for is in force, or the text says by itself that there is nothing.
 */

/** A key that protects. */
interface Protection {
  readonly key: string;
  /** A value that is right. */
  readonly good: string;
  /** A file with the key and this value. */
  readonly file: (value: string) => string;
  readonly isInForce: (file: WebFile) => boolean;
}

const TLS = 'tls_server_config:\n  cert_file: a\n  key_file: b\n';
const hasUsers = ({ users }: WebFile) => users.size > 0;

const protections: readonly Protection[] = [
  {
    key: 'basic_auth_users',
    good: `{ me: ${GEHEIM} }`,
    file: (value) => `basic_auth_users: ${value}\n`,
    isInForce: hasUsers,
  },
  {
    key: 'a user',
    good: `me: ${GEHEIM}`,
    file: (value) => `basic_auth_users:\n  ${value}\n`,
    isInForce: hasUsers,
  },
  {
    key: 'tls_server_config',
    good: '{ cert_file: a, key_file: b }',
    file: (value) => `tls_server_config: ${value}\n`,
    isInForce: ({ tls }) => tls !== undefined,
  },
  {
    key: 'client_auth_type',
    good: 'RequireAnyClientCert',
    // Without an authority, which asks for a policy by itself.
    file: (value) => `${TLS}  client_auth_type: ${value}\n`,
    isInForce: ({ tls }) => tls?.client.asked === true,
  },
  {
    key: 'client_allowed_sans',
    good: '[prometheus]',
    file: (value) => `${TLS}  client_auth_type: RequireAnyClientCert\n  client_allowed_sans: ${value}\n`,
    isInForce: ({ tls }) => tls?.allowedNames !== undefined,
  },
  {
    key: 'cipher_suites',
    good: '[TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256]',
    file: (value) => `${TLS}  cipher_suites: ${value}\n`,
    isInForce: ({ tls }) => tls?.suites !== undefined,
  },
  {
    key: 'a header',
    good: '1; mode=block',
    file: (value) => `http_server_config:\n  headers:\n    X-XSS-Protection: ${value}\n`,
    isInForce: ({ headers }) => headers['X-XSS-Protection'] !== undefined,
  },
  {
    key: 'rate_limit',
    good: '{ interval: 1s, burst: 1 }',
    file: (value) => `rate_limit: ${value}\n`,
    isInForce: ({ rate }) => rate !== undefined,
  },
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
    ...[
      '~',
      'null',
      '"',
      "'",
      '""',
      '|',
      '>',
      '{',
      '}',
      '[',
      ']',
      ',',
      ': ',
      ':',
      '? ',
      '- ',
      '#',
      ' # x',
      ' ',
      '\n    ',
    ],
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
  test.each(protections)('has $key in force or a fault, whatever its value is', ({ good, file, isInForce }) => {
    const readings = { faulty: 0, inForce: 0 };
    fc.assert(
      fc.property(valueAround(good), (value) => {
        const { file: read, faults } = parseWebFile(file(value));
        if (faults.length > 0) readings.faulty += 1;
        else if (isInForce(read)) readings.inForce += 1;
        else expect({ value, saysNothing: saysNothing(value) }).toEqual({ value, saysNothing: true });
      }),
      { numRuns: 1_000 },
    );
    // Both are tried, or the rest says nothing.
    expect(Math.min(readings.faulty, readings.inForce)).toBeGreaterThan(10);
  });
});
