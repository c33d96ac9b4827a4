import { copyFileSync, writeFileSync } from 'node:fs';
import { Agent, type RequestOptions, request } from 'node:https';
import { connect, type Socket } from 'node:net';
import { join } from 'node:path';
import { connect as connectSecurely } from 'node:tls';
import { expect, onTestFinished, test } from 'vitest';
import { certificatePath, certificateText } from '../harness/certificates.ts';
import { type Child, spawnExporter } from '../harness/spawn-exporter.ts';
import { temporaryDirectory } from '../harness/temporary-directory.ts';
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

const pair = (name: string) => ({ cert: certificateText(`${name}.crt`), key: certificateText(`${name}.key`) });
const CLIENT = pair('client');
const ca = certificateText('authority.crt');

const GET_METRICS = 'GET /metrics HTTP/1.1\r\nHost: x\r\n';

/** The beginning of a handshake: a record of 16 KiB that never comes. */
const HANDSHAKE = Buffer.from([0x16, 0x03, 0x01, 0x40, 0x00, 0x01, 0x00, 0x3f, 0xfc, 0x03, 0x03]);

/** Starts the program behind a web configuration. It polls a port on which nothing listens. */
async function start(): Promise<{ readonly child: Child; readonly folder: string; readonly port: number }> {
  const folder = temporaryDirectory();
  for (const name of ['server.crt', 'server.key', 'authority.crt']) {
    copyFileSync(certificatePath(name), join(folder, name));
  }
  writeFileSync(join(folder, 'web.yml'), WEB, { mode: 0o600 });
  const service = { GFA_URL: 'http://127.0.0.1:9/v1', GFA_TOKEN: 'token-canary' };
  const child = spawnExporter([], { ...service, WEB_CONFIG_FILE: 'web.yml', SHUTDOWN_TIMEOUT: '1h' }, folder);
  return { child, folder, port: Number(new URL(await child.serving()).port) };
}

interface Response {
  readonly status: number | undefined;
  readonly text: string;
  /** The serial number of the server's certificate. */
  readonly serial: string;
}

function get(port: number, path: string, options: RequestOptions = {}): Promise<Response> {
  return new Promise((resolve, reject) => {
    const sent = request({ host: '127.0.0.1', port, path, ca, agent: false, ...CLIENT, ...options }, (response) => {
      const { serialNumber: serial } = Object(response.socket).getPeerCertificate();
      let text = '';
      response.setEncoding('utf8').on('data', (more: string) => {
        text += more;
      });
      response.on('end', () => resolve({ status: response.statusCode, text, serial })).on('error', reject);
    });
    sent.on('error', reject).end();
  });
}

/** An agent of a scraper, which keeps its connection. */
function keepingAgent(): Agent {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  onTestFinished(() => agent.destroy());
  return agent;
}

/** A connection by hand. */
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

const allClosed = (sockets: readonly Socket[]) =>
  until('the end of the connections', () => sockets.every(({ destroyed }) => destroyed));

test('a scraper needs all of them, slow connections end meanwhile and delay no stop, and no secret is in the log', async () => {
  const { port, child } = await start();
  const slow = await Promise.all([
    open(port),
    open(port, HANDSHAKE),
    open(port, '', true),
    open(port, `${GET_METRICS}X-A: `, true),
    open(port, 'POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 9\r\n\r\n', true),
    open(port, `${GET_METRICS}\r\n`),
  ]);
  expect((await get(port, '/metrics', { auth: 'quick:geheim' })).text).toContain('\nfiler_exporter_build_info{');
  const statuses: unknown[] = [];
  for (const auth of ['usual:geheim', 'quick:Geheim', 'nobody:geheim', '']) {
    statuses.push((await get(port, '/metrics', { auth })).status);
  }
  expect(statuses).toEqual([200, 401, 401, 401]);
  for (const certificate of [{ cert: undefined, key: undefined }, pair('stranger')]) {
    for (const path of ['/metrics', '/healthz']) {
      await expect(get(port, path, { auth: 'quick:geheim', ...certificate })).rejects.toThrow();
    }
  }
  expect((await get(port, '/healthz')).status).toBe(200);
  await allClosed(slow);

  await Promise.all([open(port), open(port, HANDSHAKE), open(port, `${GET_METRICS}X-A: `, true)]);
  await get(port, '/metrics', { auth: 'quick:geheim', agent: keepingAgent() });
  child.process.kill('SIGTERM');
  const { code, stdout, stderr } = await child.ended;
  expect(code).toBe(0);
  expect(stdout + stderr).not.toMatch(/geheim|\$2|PRIVATE|token-canary/);
});

test('a known scraper gets its response while others hold connections, guess, or send requests ahead', async () => {
  const { port } = await start();
  await get(port, '/metrics', { auth: 'quick:geheim' });
  for (let connections = 0; connections < 300; connections += 1) await open(port, HANDSHAKE);
  const requests = `${GET_METRICS}\r\n`.repeat(1_500);
  const ahead = await Promise.all(Array.from({ length: 20 }, () => open(port, requests, true)));
  const guesses = Array.from({ length: 30 }, (_, guess) => get(port, '/metrics', { auth: `usual:guess ${guess}` }));
  expect((await get(port, '/metrics', { auth: 'quick:geheim' })).status).toBe(200);
  const statuses = new Set((await Promise.all(guesses)).map(({ status }) => status));
  expect(statuses).toEqual(new Set([401, 503]));
  await allClosed(ahead);
});

test('a renewed certificate is served while scrapes go on, and a broken file changes nothing', async () => {
  const { port, folder, child } = await start();
  const agent = keepingAgent();
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
  const rejection = child.log.findLast(({ level }) => level === 'error');
  expect(rejection?.errors).toEqual(['the file removes all users; restart the exporter to apply it']);
  expect((await get(port, '/metrics')).status).toBe(401);
});
