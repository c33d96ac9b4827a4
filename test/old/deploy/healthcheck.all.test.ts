// Only here: an image that Docker takes for well or ill wrongly.
import { spawn } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { createServer as createHttpServer } from 'node:http';
import { createServer, type Server, type Socket } from 'node:net';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { servedPort } from '../support/listening.ts';
import { root, start, temporaryDirectory } from '../support/program.ts';
import { GEHEIM, guardedHere } from '../web/asking.ts';
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
  const tls = 'tls_server_config:\n  cert_file: exporter.crt\n  key_file: exporter.key\n';
  const { address: LISTEN_ADDRESS } = await guardedHere(tls, folder);
  expect(await health({ LISTEN_ADDRESS, WEB_CONFIG_FILE: join(folder, 'web.yml') })).toBe(0);
  expect(await health({ LISTEN_ADDRESS })).toBe(1);
});

test('and one that takes no more requests for now, by its rate limit', async () => {
  const limit = 'rate_limit: { interval: 1h, burst: 1 }\n';
  const { address: LISTEN_ADDRESS } = await guardedHere(limit, temporaryDirectory(), { WEB_OPEN_PATHS: 'none' });
  const answers = [await health({ LISTEN_ADDRESS }), await health({ LISTEN_ADDRESS })];
  expect(answers).toEqual([0, 0]);
});

test('and one that wants a password of it', async () => {
  const WEB_CONFIG_FILE = join(temporaryDirectory(), 'web.yml');
  writeFileSync(WEB_CONFIG_FILE, `basic_auth_users:\n  me: ${GEHEIM}\n`);
  const LISTEN_ADDRESS = await addressOf({ WEB_CONFIG_FILE, WEB_OPEN_PATHS: 'none' });
  expect(await health({ LISTEN_ADDRESS, WEB_CONFIG_FILE })).toBe(0);
});

describe.runIf(hasTlsClients)('and one that wants a client certificate of it', () => {
  test.each([
    ['RequireAndVerifyClientCert', 'TLS13', 'unset'],
    ['RequireAndVerifyClientCert', 'TLS12', 'unset'],
    ['RequireAndVerifyClientCert', 'TLS13', '/readyz'],
    ['RequireAnyClientCert', 'TLS13', 'unset'],
    ['RequireAnyClientCert', 'TLS12', 'unset'],
  ])('by %s, up to %s, with WEB_OPEN_PATHS %s', async (type, version, open) => {
    const folder = temporaryDirectory();
    makePair(folder, 'exporter', { names: 'IP:127.0.0.1' });
    const lines = ['cert_file: exporter.crt', 'key_file: exporter.key', 'client_ca_file: exporter.crt'];
    lines.push(`client_auth_type: ${type}`, `max_version: ${version}`);
    const tls = `tls_server_config:\n${lines.map((line) => `  ${line}\n`).join('')}`;
    const openPaths: Record<string, string> = open === 'unset' ? {} : { WEB_OPEN_PATHS: open };
    const { address: LISTEN_ADDRESS } = await guardedHere(tls, folder, openPaths);
    expect(await health({ LISTEN_ADDRESS, WEB_CONFIG_FILE: join(folder, 'web.yml') })).toBe(0);
  });
});

describe('says that nobody answers', () => {
  // A file that asks for TLS; what is asked here speaks none.
  const withTls = () => {
    const WEB_CONFIG_FILE = join(temporaryDirectory(), 'web.yml');
    writeFileSync(WEB_CONFIG_FILE, 'tls_server_config:\n');
    return { WEB_CONFIG_FILE };
  };

  test('where nobody listens', async () => {
    // Port 1 is nobody's.
    expect(await health({ LISTEN_ADDRESS: '127.0.0.1:1' })).toBe(1);
  });

  test('where connections are taken and nothing is said, with TLS or without', async () => {
    const LISTEN_ADDRESS = await listening(createServer());
    const asked = [health({ LISTEN_ADDRESS }), health({ LISTEN_ADDRESS, ...withTls() })];
    expect(await Promise.all(asked)).toEqual([1, 1]);
  });

  test('where connections are taken and closed at once, with TLS or without', async () => {
    const LISTEN_ADDRESS = await listening(createServer((socket) => socket.destroy()));
    expect(await health({ LISTEN_ADDRESS })).toBe(1);
    expect(await health({ LISTEN_ADDRESS, ...withTls() })).toBe(1);
  });

  test('where the answer is an error, or not TLS', async () => {
    const LISTEN_ADDRESS = await listening(createHttpServer((_, response) => response.writeHead(500).end()));
    expect(await health({ LISTEN_ADDRESS })).toBe(1);
    expect(await health({ LISTEN_ADDRESS, ...withTls() })).toBe(1);
  });
});

/** Where an exporter of the demo listens. */
async function addressOf(environment: Readonly<Record<string, string>>): Promise<string> {
  const program = start(['--demo'], { environment });
  return new URL(await program.serving()).host;
}

/** Where a server listens that ends with the test. */
async function listening(server: Server): Promise<string> {
  const sockets = new Set<Socket>();
  server.on('connection', (socket: Socket) => sockets.add(socket.on('error', () => {})));
  const port = await servedPort(server);
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy();
  });
  return `127.0.0.1:${port}`;
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
