import { inspect } from 'node:util';
import { describe, expect, test } from 'vitest';
import { variableRows } from '../../src/catalog.ts';
import type { Config } from '../../src/config/config.ts';
import { effectiveConfiguration } from '../../src/config/describe.ts';
import { fileVariable, isSecret } from '../../src/config/section.ts';
import { ConfigError } from '../../src/runtime/errors.ts';
import fc from '../support/fast-check.ts';
import { loadConfig } from '../support/load-config.ts';
import { configOf, errorsOf, type Files, gfaOnly, reader, services, systemError } from './surroundings.ts';

const CANARY = 'canary-7f3a';
const { GFA_URL } = gfaOnly;

/** Everything that turns a configuration into text. */
function texts(config: Config): string {
  return [
    JSON.stringify(config),
    inspect(config, { depth: 20, showHidden: true }),
    String(config),
    effectiveConfiguration(config, services),
  ].join('\n');
}

describe('a secret in a file', () => {
  test('is read without its line ends', () => {
    expect(configOf({ GFA_URL, GFA_TOKEN_FILE: '/run/token' }, { '/run/token': 'abc\r\n\n' }).gfa?.token.reveal()).toBe(
      'abc',
    );
  });

  test('is read again after it was rotated, and a half-written file leaves the old one', async () => {
    const files: Files = { '/run/token': 'old\n' };
    const token = configOf({ GFA_URL, GFA_TOKEN_FILE: '/run/token' }, files).gfa?.token;
    expect(await token?.reload()).toBe(false);
    files['/run/token'] = '';
    expect(await token?.reload()).toBe(false);
    files['/run/token'] = 'two\nlines\n';
    expect(await token?.reload()).toBe(false);
    delete files['/run/token'];
    expect(await token?.reload()).toBe(false);
    expect(token?.reveal()).toBe('old');
    files['/run/token'] = 'new\n';
    expect(await token?.reload()).toBe(true);
    expect(token?.reveal()).toBe('new');
  });

  test('works for each of the portal credentials', () => {
    const files = { '/key': 'k\n', '/secret': 's\n' };
    const { portal } = configOf(
      { PORTAL_URL: 'https://p', PORTAL_SERVICE_KEY_FILE: '/key', PORTAL_SERVICE_SECRET_FILE: '/secret' },
      files,
    );
    expect(portal?.credentials.kind).toBe('oauth2');
    expect(portal?.credentials.key.reveal()).toBe('k');
  });

  test('must be there, and only there', () => {
    expect(errorsOf({ GFA_URL, GFA_TOKEN: CANARY, GFA_TOKEN_FILE: '/run/token' }, { '/run/token': CANARY })).toEqual([
      'GFA_TOKEN: is set and so is GFA_TOKEN_FILE; expected one of them',
    ]);
  });

  test.each([
    ['', 'the file is empty; expected the secret'],
    ['\r\n\n', 'the file is empty; expected the secret'],
    [`${CANARY}\n${CANARY}`, "the file's content contains a line break; expected only the secret"],
    [`${CANARY}\t`, "the file's content contains a control character; expected only the secret"],
    [`\uFEFF${CANARY}`, "the file's content contains a character outside ASCII; expected only the secret"],
    [` ${CANARY}`, "the file's content begins or ends with a space; expected only the secret"],
    [CANARY.repeat(2_000), "the file's content is longer than 8 KiB; expected only the secret"],
  ])('%j is refused without being shown', (content, reason) => {
    expect(errorsOf({ GFA_URL, GFA_TOKEN_FILE: '/run/token' }, { '/run/token': content })).toEqual([
      `GFA_TOKEN_FILE: ${reason}`,
    ]);
  });

  test.each([
    ...['/run/credentials/filer-exporter.service/secrets_gfa-token', 'secrets/gfa-token', './token', '../token'].map(
      (path) => [path, `"${path}" `],
    ),
    ...[CANARY, `/${CANARY}/+xY=`, `${CANARY}/run/`].map((secret) => [secret, '']),
  ])('that cannot be read is named if it looks like a path, for %s may be the secret itself', (path, named) => {
    expect(errorsOf({ GFA_URL, GFA_TOKEN_FILE: path })).toEqual([
      `GFA_TOKEN_FILE: ${named}cannot be read (ENOENT); expected the path of a file with the secret`,
    ]);
  });

  test('that the process may not read is a fault with the reason', () => {
    const readFile = (path: string) => {
      throw systemError(path === '.env' ? 'ENOENT' : 'EACCES');
    };
    expect(() => loadConfig({ environment: { GFA_URL, GFA_TOKEN_FILE: '/x' }, readFile, services })).toThrow(
      'GFA_TOKEN_FILE: cannot be read (EACCES)',
    );
  });
});

test('[long-secrets] a secret above 8 KiB is rejected without being shown', () => {
  expect(errorsOf({ GFA_URL, GFA_TOKEN: 'x'.repeat(8_193) })).toEqual([
    'GFA_TOKEN: the value is longer than 8 KiB; expected the secret as issued, in printable ASCII characters',
  ]);
});

test('a secret shows nowhere but where it is asked for', () => {
  const environment = {
    GFA_URL,
    GFA_TOKEN: CANARY,
    PORTAL_URL: 'https://p',
    PORTAL_SERVICE_KEY_FILE: '/key',
    PORTAL_SERVICE_SECRET: `${CANARY}-secret`,
    HTTPS_PROXY: `http://me:${CANARY}@proxy:3128`,
    http_proxy: `${CANARY}@proxy:3128`,
    REMOTE_WRITE_URL: 'https://receiver.example.com/write',
    REMOTE_WRITE_CERT_FILE: '/pair.pem',
    REMOTE_WRITE_KEY_FILE: '/pair.pem',
  };
  const pair = `-----BEGIN CERTIFICATE-----\n-----BEGIN PRIVATE KEY-----\n${CANARY}\n`;
  const config = configOf(environment, { '/key': CANARY, '/pair.pem': pair });
  expect(config.gfa?.token.reveal()).toBe(CANARY);
  expect(config.remoteWrite?.tls.key?.reveal()).toBe(pair);
  expect(effectiveConfiguration(config, services)).toContain('\nREMOTE_WRITE_KEY_FILE=/pair.pem\n');
  expect(texts(config)).not.toContain(CANARY);
});

/** Any text at all, and often one that is nearly right. */
const anyValue = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 40 }),
  fc.constantFrom(
    ...['', ' ', ',', '0', '1', '-1', '60s', 'all', 'user_key', 'https://host/v1', '/metrics', ':0', '500/30s'],
  ),
  fc.constantFrom('-load_average', 'cpu_utilization=1m', 'telemetry', 'true', '[::1]:1', '__proto__', 'constructor'),
);

/** A secret that is there in each load: well formed or with something that no header takes. */
const anySecret = fc.constantFrom(CANARY, `${CANARY}\n`, ` ${CANARY}`, `\u0000${CANARY}`, `${CANARY}ü`, `x,${CANARY}`);

test('whatever is set, there is a configuration or a ConfigError, and no secret in either', () => {
  const secretNames = variableRows.filter(({ row }) => isSecret(row)).flatMap(({ name }) => [name, fileVariable(name)]);
  const plainRows = variableRows.filter(({ row }) => !isSecret(row));
  const strangers = ['HTTP_PROXY', 'NO_PROXY', 'GFA_OTHER', 'PORTAL_', 'GFA_SERVICE_HOST', '__proto__'];
  const setting = fc.oneof(
    { weight: 8, arbitrary: fc.constantFrom(...plainRows).map(({ name, row }) => [name, row.default ?? ''] as const) },
    { weight: 2, arbitrary: fc.tuple(fc.constantFrom(...plainRows.map(({ name }) => name)), anyValue) },
    { weight: 1, arbitrary: fc.tuple(fc.constantFrom(...strangers), anyValue) },
  );
  const environments = fc.record({
    secrets: fc.oneof(
      fc.constant({ GFA_TOKEN: CANARY, PORTAL_USER_KEY: CANARY }),
      fc.dictionary(fc.constantFrom(...secretNames), anySecret, { maxKeys: 4 }),
    ),
    others: fc.array(setting, { maxLength: 6 }).map((settings) => Object.fromEntries(settings)),
    apis: fc.constantFrom({}, { GFA_URL }, { PORTAL_URL: 'https://p' }, { GFA_URL, PORTAL_URL: 'https://p' }),
    files: fc.dictionary(fc.constantFrom('.env', CANARY), fc.oneof(anySecret, anyValue)),
  });
  const outcomes = { good: 0, bad: 0 };
  fc.assert(
    fc.property(environments, ({ secrets, others: rest, apis, files }) => {
      try {
        const environment = { ...rest, ...apis, ...secrets };
        const config = loadConfig({ environment, readFile: reader(files), services });
        // Where a file bears the secret's name, its path is shown, and may be.
        if (!secretNames.some((name) => name.endsWith('_FILE') && name in secrets)) {
          expect(texts(config)).not.toContain(CANARY);
        }
        outcomes.good += 1;
      } catch (error) {
        if (!(error instanceof ConfigError)) throw error;
        expect(error.errors.length).toBeGreaterThan(0);
        expect(inspect(error)).not.toContain(CANARY);
        for (const line of error.errors) expect(line).not.toMatch(/[\p{Cc}\p{Zl}\p{Zp}]/u);
        outcomes.bad += 1;
      }
    }),
    { numRuns: 300 },
  );
  // Otherwise one half of this test would have tested nothing.
  expect(Math.min(outcomes.good, outcomes.bad)).toBeGreaterThan(0);
});
