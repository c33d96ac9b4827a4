import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { copyFileSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { Agent, type RequestOptions, request } from 'node:https';
import { connect, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';
import { connect as connectSecurely } from 'node:tls';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { certificatePath, certificateText } from '../harness/certificates.ts';
import { until } from '../harness/until.ts';

/** bcrypt hashes of `geheim`: one that is quick to check, and one of the usual cost. */
const QUICK = '$2y$04$u5WNi2lYZIEEOYL/Sl9Ny.TlR2KlYwhu6qm.FHqnBvPinc9tALXS.';
const USUAL = '$2b$10$7XH.iIFcDnU.4kzrOMfH2OINuYkaCZTfE0McKcbWTi0orQE9BNuXC';

const WEB = `tls_server_config:
  cert_file: server.crt
  key_file: server.key
  client_auth_type: RequireAndVerifyClientCert
  client_ca_file: authority.crt
  client_allowed_sans: [prometheus]
basic_auth_users:
  quick: ${QUICK}
  usual: ${USUAL}
`;

/** What a good scraper has. */
const CLIENT = { cert: certificateText('client.crt'), key: certificateText('client.key') };
const STRANGER = { cert: certificateText('stranger.crt'), key: certificateText('stranger.key') };
const ca = certificateText('authority.crt');

const GET_METRICS = 'GET /metrics HTTP/1.1\r\nHost: x\r\n';

/** The beginning of a handshake: a record of 16 KiB that never comes. */
const HANDSHAKE = Buffer.from([0x16, 0x03, 0x01, 0x40, 0x00, 0x01, 0x00, 0x3f, 0xfc, 0x03, 0x03]);

interface Exporter {
  readonly child: ChildProcess;
  readonly folder: string;
  readonly port: number;
  readonly log: () => string;
}

/** Starts the built program behind a web configuration. It polls a port on which nothing listens. */
async function start(): Promise<Exporter> {
  const folder = mkdtempSync(join(tmpdir(), 'filer-exporter-web-'));
  for (const name of ['server.crt', 'server.key', 'authority.crt'])
    copyFileSync(certificatePath(name), join(folder, name));
  writeFileSync(join(folder, 'web.yml'), WEB, { mode: 0o600 });
  const child = spawn(process.execPath, [join(import.meta.dirname, '../../dist/main.js')], {
    cwd: folder,
    env: {
      GFA_URL: 'http://127.0.0.1:9/v1',
      GFA_TOKEN: 'token-canary',
      LISTEN_ADDRESS: '127.0.0.1:0',
      WEB_CONFIG_FILE: 'web.yml',
      SHUTDOWN_TIMEOUT: '1h',
    },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let text = '';
  child.stdout?.setEncoding('utf8').on('data', (more: string) => {
    text += more;
  });
  const port = await until('the program to listen', () => /"port":(\d+)/.exec(text)?.[1]);
  return { child, folder, port: Number(port), log: () => text };
}

async function end({ child, folder }: Exporter): Promise<void> {
  if (child.exitCode === null && child.signalCode === null) {
    child.kill('SIGKILL');
    await once(child, 'exit');
  }
  rmSync(folder, { recursive: true });
}

interface Response {
  readonly status: number;
  readonly text: string;
  /** The serial number of the server's certificate. */
  readonly serial: string;
}

function get(port: number, path: string, options: RequestOptions = {}): Promise<Response> {
  return new Promise((resolve, reject) => {
    const sent = request({ host: '127.0.0.1', port, path, ca, agent: false, ...CLIENT, ...options }, (response) => {
      const serial =
        'getPeerCertificate' in response.socket ? Object(response.socket).getPeerCertificate().serialNumber : '';
      let text = '';
      response.setEncoding('utf8').on('data', (more: string) => {
        text += more;
      });
      response.on('end', () => resolve({ status: response.statusCode ?? 0, text, serial })).on('error', reject);
    });
    sent.on('error', reject).end();
  });
}

/** A connection by hand, and whether it has ended. */
function open(port: number, bytes: string | Buffer = '', isSecure = false): Promise<Socket> {
  const socket = isSecure ? connectSecurely({ host: '127.0.0.1', port, ca, ...CLIENT }) : connect(port, '127.0.0.1');
  onTestFinished(() => void socket.destroy());
  socket.on('error', () => {}).resume();
  return new Promise((resolve, reject) => {
    socket.once(isSecure ? 'secureConnect' : 'connect', () => {
      socket.write(bytes);
      resolve(socket);
    });
    socket.once('error', reject);
  });
}

describe('behind TLS, client certificates and passwords', () => {
  let exporter: Exporter;
  beforeAll(async () => {
    exporter = await start();
  });
  afterAll(() => end(exporter));

  test('a scraper needs all of them, and slow or silent connections are closed meanwhile', async () => {
    const { port } = exporter;
    const slow = await Promise.all([
      open(port),
      open(port, HANDSHAKE),
      open(port, '', true),
      open(port, `${GET_METRICS}X-A: `, true),
      open(port, 'POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 9\r\n\r\n', true),
    ]);
    expect((await get(port, '/metrics', { auth: 'quick:geheim' })).text).toContain('\nfiler_exporter_build_info{');
    const statuses: number[] = [];
    for (const auth of ['usual:geheim', 'quick:Geheim', 'nobody:geheim', '']) {
      statuses.push((await get(port, '/metrics', { auth })).status);
    }
    expect(statuses).toEqual([200, 401, 401, 401]);
    for (const certificate of [{ cert: undefined, key: undefined }, STRANGER]) {
      for (const path of ['/metrics', '/healthz']) {
        await expect(get(port, path, { auth: 'quick:geheim', ...certificate })).rejects.toThrow();
      }
    }
    expect((await get(port, '/healthz')).status).toBe(200);
    const plain = await open(port, `${GET_METRICS}\r\n`);
    await until('the plain connection to be closed', () => plain.destroyed);
    await until('the slow connections to be closed', () => slow.every(({ destroyed }) => destroyed), 15_000);
  });

  test('a scraper keeps its connection, and so its handshake', async () => {
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    onTestFinished(() => agent.destroy());
    let handshakes = 0;
    agent.on('keylog', () => {
      handshakes += 1;
    });
    await get(exporter.port, '/metrics', { auth: 'quick:geheim', agent });
    const first = handshakes;
    for (let scrapes = 0; scrapes < 5; scrapes += 1) {
      expect((await get(exporter.port, '/metrics', { auth: 'quick:geheim', agent })).status).toBe(200);
    }
    expect([first > 0, handshakes - first]).toEqual([true, 0]);
  });

  test('a scraper gets its response while others hold or open connections, guess, or send requests ahead', async () => {
    const { port } = exporter;
    for (let connections = 0; connections < 300; connections += 1) await open(port, HANDSHAKE);
    const ahead = await Promise.all(
      Array.from({ length: 20 }, () => open(port, `${GET_METRICS}\r\n`.repeat(1_500), true)),
    );
    const guesses = Array.from({ length: 30 }, (_, guess) => get(port, '/metrics', { auth: `usual:guess ${guess}` }));
    const begun = performance.now();
    expect((await get(port, '/metrics', { auth: 'quick:geheim' })).status).toBe(200);
    expect(performance.now() - begun).toBeLessThan(10_000);
    const statuses = new Set((await Promise.all(guesses)).map(({ status }) => status));
    expect([...statuses].sort()).toEqual([401, 503]);
    await until('the connections with requests ahead to be closed', () => ahead.every(({ destroyed }) => destroyed));
  });

  test('a renewed certificate is served while scrapes go on, and a broken file changes nothing', async () => {
    const { port, folder, log } = exporter;
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    onTestFinished(() => agent.destroy());
    const scrape = () => get(port, '/metrics', { auth: 'quick:geheim', agent });
    const before = await scrape();
    copyFileSync(certificatePath('renewed.crt'), join(folder, 'server.crt'));
    copyFileSync(certificatePath('renewed.key'), join(folder, 'server.key'));
    const after = await until('the renewed certificate', async () => {
      const response = await scrape();
      return response.serial !== before.serial && response;
    });
    expect(after.text).toContain(`_web_certificate_expiry_timestamp_seconds ${Date.UTC(2110, 0, 1) / 1000}\n`);
    writeFileSync(join(folder, 'web.yml'), WEB.slice(0, WEB.indexOf('basic_auth_users')));
    await until('the rejection', async () => (await scrape()).text.includes('_config_last_reload_successful 0\n'));
    expect(log()).toContain('the file removes all users; restart the exporter to apply it');
    expect((await get(port, '/metrics')).status).toBe(401);
  });

  test('a stop waits for no idle connection and no handshake', async () => {
    const { port, child } = exporter;
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    onTestFinished(() => agent.destroy());
    await Promise.all([open(port), open(port, HANDSHAKE), open(port, `${GET_METRICS}X-A: `, true)]);
    await get(port, '/metrics', { auth: 'quick:geheim', agent });
    child.kill('SIGTERM');
    expect(await once(child, 'exit')).toEqual([0, null]);
    expect(exporter.log()).not.toMatch(/geheim|\$2|PRIVATE|token-canary/);
  });
});
