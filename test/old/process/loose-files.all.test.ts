// Only here: a secret in a file whose mode, folder or link lets others at it.
import { chmodSync, copyFileSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { runHere } from '../support/command.ts';
import { start, temporaryDirectory } from '../support/program.ts';
import { until } from '../support/until.ts';
import { GEHEIM, guardedHere } from '../web/asking.ts';
import { hasTlsClients, makePair } from '../web/certificates.ts';

const GFA_URL = 'http://127.0.0.1:9/v1';

const READABLE = 'warning: FILE is world-readable (mode 0644); expected 0640 or stricter\n';

describe('a file with a secret', () => {
  test('[readable-secrets] that others can read or change gets a warning, and no other', async () => {
    const directory = temporaryDirectory();
    const modes = {
      GFA_TOKEN: 0o400,
      PORTAL_SERVICE_KEY: 0o640,
      PORTAL_SERVICE_SECRET: 0o644,
      REMOTE_WRITE_PASSWORD: 0o660,
    };
    const environment: Record<string, string> = { GFA_URL, PORTAL_URL: 'http://127.0.0.1:9' };
    for (const [name, mode] of Object.entries(modes)) {
      environment[`${name}_FILE`] = join(directory, name);
      writeFileSync(join(directory, name), 'a-secret\n');
      chmodSync(join(directory, name), mode);
    }
    const receiver = { REMOTE_WRITE_URL: 'http://127.0.0.1:9/write', REMOTE_WRITE_USER: 'me' };
    const { code, stderr } = await runHere(['--check-config'], { environment: { ...environment, ...receiver } });
    expect(code).toBe(0);
    expect(stderr.replaceAll(`${directory}/`, '')).toBe(
      'warning: PORTAL_SERVICE_SECRET is world-readable (mode 0644); expected 0640 or stricter\n' +
        'warning: REMOTE_WRITE_PASSWORD is writable by other users than its owner (mode 0660); expected 0640 or stricter\n',
    );
  });

  test('may be readable behind the links that Kubernetes makes: the container is the only user there', async () => {
    const directory = temporaryDirectory();
    mkdirSync(join(directory, '..2026_11_20_22_00_00.123456789'));
    symlinkSync('..2026_11_20_22_00_00.123456789', join(directory, '..data'));
    symlinkSync('..data/token', join(directory, 'token'));
    writeFileSync(join(directory, '..data', 'token'), 'a-token\n', { mode: 0o644 });
    const environment = { GFA_URL, GFA_TOKEN_FILE: join(directory, 'token') };
    expect((await runHere(['--check-config'], { environment })).stderr).toBe('');
  });

  test('that is .env itself gets a warning too, where it sets a secret', async () => {
    const directory = temporaryDirectory();
    const warningsOf = async (mode: number, text: string) => {
      writeFileSync(join(directory, '.env'), text);
      chmodSync(join(directory, '.env'), mode);
      return (await runHere(['--check-config'], { directory, environment: { GFA_URL, GFA_TOKEN: 'a-token' } })).stderr;
    };
    const line = 'warning: .env is world-readable (mode 0644); expected 0640 or stricter\n';
    expect(await warningsOf(0o644, 'GFA_TOKEN=a-token\n')).toBe(line);
    expect(await warningsOf(0o640, 'GFA_TOKEN=a-token\n')).toBe('');
    expect(await warningsOf(0o644, 'GFA_INTERVAL=2m\n')).toBe('');
    const changed = 'warning: .env is writable by other users than its owner (mode 0660); expected 0640 or stricter\n';
    expect(await warningsOf(0o660, 'GFA_URL=http://127.0.0.1:9/v1\n')).toBe(changed);
  });

  test.each([['--doctor'], ['--plan'], ['--backfill', '--since', '30d']])(
    'gets its warning from %s too, before the first request',
    async (...args) => {
      const path = join(temporaryDirectory(), 'key');
      writeFileSync(path, 'a-key\n');
      chmodSync(path, 0o644);
      const environment = { PORTAL_URL: 'http://127.0.0.1:9', PORTAL_USER_KEY_FILE: path };
      const { stderr } = await runHere(args, { environment });
      expect(stderr.split('\n')[0]).toBe(`warning: ${path} is world-readable (mode 0644); expected 0640 or stricter`);
    },
  );

  test('in a folder that others can change gets a warning, unless each may change only their own files', async () => {
    const directory = temporaryDirectory();
    const path = join(directory, 'token');
    writeFileSync(path, 'a-token\n', { mode: 0o600 });
    const check = () => runHere(['--check-config'], { environment: { GFA_URL, GFA_TOKEN_FILE: path } });
    chmodSync(directory, 0o777);
    expect((await check()).stderr).toContain(
      `warning: ${path} is in a folder that other users can change: ${directory}; expected one that only root or`,
    );
    chmodSync(directory, 0o1777);
    expect((await check()).stderr).toBe('');
  });

  test('with too permissive a mode gets one warning in the log of a running exporter, which goes on', async () => {
    const directory = temporaryDirectory();
    const [token, web] = [join(directory, 'token'), join(directory, 'web.yml')];
    writeFileSync(token, 'a-token\n');
    writeFileSync(web, '{} # nothing\n');
    for (const path of [token, web]) chmodSync(path, 0o666);
    const program = start([], { environment: { GFA_URL, GFA_TOKEN_FILE: token, WEB_CONFIG_FILE: web } });
    await program.serving();
    await until('both lines', () => program.log.filter(({ msg }) => msg.includes('too permissive')).length === 2);
    expect(program.log.filter(({ msg }) => msg.includes('too permissive')).map(({ level }) => level)).toEqual([
      'warn',
      'warn',
    ]);
  });
});

describe('a web configuration that others can read', () => {
  async function warnings(text: string, directory = temporaryDirectory()) {
    const web = join(directory, 'web.yml');
    writeFileSync(web, text);
    chmodSync(web, 0o644);
    const { code, stderr } = await runHere(['--check-config'], {
      environment: { GFA_URL, GFA_TOKEN: 'a-token', WEB_CONFIG_FILE: web },
    });
    expect(code).toBe(0);
    return stderr.replace(web, 'FILE');
  }

  test('is fine while it holds no secret', async () => {
    expect(await warnings('http_server_config:\n  headers:\n    X-Frame-Options: deny\n')).toBe('');
  });

  test('gets a warning with the hash of a password', async () => {
    expect(await warnings(`basic_auth_users:\n  me: ${GEHEIM}\n`)).toBe(READABLE);
  });

  test.runIf(hasTlsClients)('gets a warning with a key, and none when it names the key’s file', async () => {
    const directory = temporaryDirectory();
    const { keyText } = makePair(directory, 'server');
    const tls = 'tls_server_config:\n  cert_file: server.crt\n';
    expect(await warnings(`${tls}  key_file: server.key\n`, directory)).toBe('');
    const inline = keyText.trimEnd().replaceAll('\n', '\n    ');
    expect(await warnings(`${tls}  key: |\n    ${inline}\n`, directory)).toBe(READABLE);
  });
});

test.runIf(hasTlsClients)('a key that is renewed as a file that others can read gets its warning then', async () => {
  const directory = temporaryDirectory();
  const pair = makePair(directory, 'server');
  chmodSync(pair.key, 0o600);
  const tls = 'tls_server_config:\n  cert_file: server.crt\n  key_file: server.key\n';
  const { log } = await guardedHere(tls, directory);
  const renewed = makePair(directory, 'renewed');
  expect(log.filter(({ msg }) => msg.includes('too permissive'))).toEqual([]);
  // A copy has the mode of what it is copied from.
  chmodSync(renewed.key, 0o644);
  copyFileSync(renewed.key, pair.key);
  copyFileSync(renewed.cert, pair.cert);
  await until('the new key to count', () => log.some(({ msg }) => msg.includes('configuration reloaded')));
  const warnings = log.filter(({ msg }) => msg.includes('too permissive'));
  expect(warnings).toMatchObject([
    {
      level: 'warn',
      reason: `${pair.key} is world-readable (mode 0644); expected 0640 or stricter`,
    },
  ]);
});
