// Only here: passwords as real clients send them, to a process.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { end, launch, type Program } from '../support/program.ts';
import { curl, GEHEIM, GEHEIM_AT_10, guarded, NOBODY } from './asking.ts';
import { hasTlsClients } from './certificates.ts';

const users = `basic_auth_users:\n  prometheus: ${GEHEIM_AT_10}\n  "42": ${GEHEIM}\n  "späher": ${GEHEIM}\n`;

function basic(user: string, password: string) {
  return { authorization: `Basic ${Buffer.from(`${user}:${password}`).toString('base64')}` };
}

async function statusOf(url: string, headers: Readonly<Record<string, string>> = {}): Promise<number> {
  const answer = await fetch(url, { headers });
  await answer.arrayBuffer();
  return answer.status;
}

describe('with users', () => {
  const folder = mkdtempSync(join(tmpdir(), 'filer-exporter-users-'));
  let program: Program;
  let address: string;
  beforeAll(async () => {
    const file = join(folder, 'web.yml');
    writeFileSync(file, users, { mode: 0o600 });
    program = launch([], { environment: { ...NOBODY, WEB_CONFIG_FILE: file } });
    address = new URL(await program.serving()).host;
  });
  afterAll(async () => {
    await end(program);
    rmSync(folder, { recursive: true });
  });

  test('every page but those for probes asks for a password, whatever the method and the path', async () => {
    for (const path of ['/metrics', '/status', '/', '/nowhere', '//healthz', '/healthz/', '/HEALTHZ', '/%68ealthz']) {
      expect(await statusOf(`http://${address}${path}`), path).toBe(401);
    }
    const refused = await fetch(`http://${address}/metrics`, { method: 'DELETE' });
    expect([refused.status, refused.headers.get('www-authenticate')]).toEqual([
      401,
      'Basic realm="filer-exporter", charset="UTF-8"',
    ]);
    for (const path of ['/healthz', '/readyz?x=1'])
      expect([200, 503]).toContain(await statusOf(`http://${address}${path}`));
  });

  test('the right password opens every page, a name in digits or with an umlaut included', async () => {
    for (const user of ['prometheus', '42', 'späher']) {
      expect(await statusOf(`http://${address}/metrics`, basic(user, 'geheim')), user).toBe(200);
    }
    expect(await statusOf(`http://${address}/nowhere`, basic('42', 'geheim'))).toBe(404);
  });

  test.runIf(hasTlsClients)('a curl that asks first what it takes gets in all the same', async () => {
    const asked = await curl(`http://${address}/metrics`, '--anyauth', '--user', 'prometheus:geheim');
    expect(asked).toMatchObject({ exit: 0, status: 200 });
  });

  test('nothing else opens anything', async () => {
    const attempts: Readonly<Record<string, Readonly<Record<string, string>>>> = {
      'a wrong password': basic('prometheus', 'Geheim'),
      'no password': basic('prometheus', ''),
      nobody: basic('', ''),
      'a user who is not there': basic('admin', 'geheim'),
      'a name that every object has': basic('constructor', 'geheim'),
      'no colon': { authorization: `Basic ${Buffer.from('prometheus').toString('base64')}` },
      'another scheme': { authorization: 'Bearer geheim' },
      'no base64': { authorization: 'Basic %%%' },
      'far too much': basic('prometheus', 'g'.repeat(8_000)),
      'the hash itself': basic('prometheus', GEHEIM_AT_10),
    };
    for (const [what, headers] of Object.entries(attempts)) {
      expect(await statusOf(`http://${address}/metrics`, headers), what).toBe(401);
    }
  });

  test('every header that the file may name is sent with every answer, and its policy counts in the place of ours', async () => {
    const sent = {
      'Strict-Transport-Security': 'max-age=63072000; includeSubDomains',
      'X-Content-Type-Options': 'nosniff',
      'X-Frame-Options': 'sameorigin',
      'X-XSS-Protection': '1; mode=block',
      'Content-Security-Policy': "default-src 'none'",
    };
    const lines = Object.entries(sent).map(([name, value]) => `    ${name}: "${value}"\n`);
    const { address } = await guarded(`${users}http_server_config:\n  http2: yes\n  headers:\n${lines.join('')}`);
    for (const path of ['/metrics', '/healthz', '/status', '/nowhere']) {
      const { headers } = await fetch(`http://${address}${path}`, { headers: basic('42', 'geheim') });
      expect(Object.fromEntries(Object.keys(sent).map((name) => [name, headers.get(name)]))).toEqual(sent);
    }
  });
});
