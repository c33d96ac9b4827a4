import { spawn } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { root, start, temporaryDirectory } from '../support/program.ts';
import { hasTlsClients, makePair } from '../web/certificates.ts';

/* The health check of the image, which is a program of its own because the image has no shell and no curl. */

test('says that an exporter answers, at the address that it listens on', async () => {
  const address = await addressOf({});
  expect(await health({ LISTEN_ADDRESS: address })).toBe(0);
  // Without a host it is this machine's own.
  expect(await health({ LISTEN_ADDRESS: `:${address.split(':')[1]}` })).toBe(0);
});

test.runIf(hasTlsClients)('and one that speaks TLS alone, with a certificate for another name', async () => {
  const folder = temporaryDirectory();
  makePair(folder, 'exporter', { names: 'DNS:exporter.example.com' });
  const WEB_CONFIG_FILE = join(folder, 'web.yml');
  writeFileSync(WEB_CONFIG_FILE, 'tls_server_config:\n  cert_file: exporter.crt\n  key_file: exporter.key\n');
  const LISTEN_ADDRESS = await addressOf({ WEB_CONFIG_FILE });
  expect(await health({ LISTEN_ADDRESS, WEB_CONFIG_FILE })).toBe(0);
  expect(await health({ LISTEN_ADDRESS })).toBe(1);
});

test('and one that takes no more requests for now, by its rate limit', async () => {
  const WEB_CONFIG_FILE = join(temporaryDirectory(), 'web.yml');
  writeFileSync(WEB_CONFIG_FILE, 'rate_limit: { interval: 1h, burst: 1 }\n');
  const LISTEN_ADDRESS = await addressOf({ WEB_CONFIG_FILE, WEB_OPEN_PATHS: 'none' });
  const answers = [await health({ LISTEN_ADDRESS }), await health({ LISTEN_ADDRESS })];
  expect(answers).toEqual([0, 0]);
});

test('says that nobody answers', async () => {
  // Port 1 is nobody's.
  expect(await health({ LISTEN_ADDRESS: '127.0.0.1:1' })).toBe(1);
});

/** Where an exporter of the demo listens. */
async function addressOf(environment: Readonly<Record<string, string>>): Promise<string> {
  const program = start(['--demo'], { environment });
  return new URL(await program.serving()).host;
}

/** The exit code of the health check. */
function health(environment: Readonly<Record<string, string>>): Promise<number | null> {
  const script = join(root, 'deploy', 'image', 'healthcheck.mjs');
  const child = spawn(process.execPath, [script], { env: environment, stdio: ['ignore', 'inherit', 'pipe'] });
  return new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('close', resolve);
  });
}
