import { writeFileSync } from 'node:fs';
import { createServer as createPlainServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { createServer } from 'node:https';
import { connect, type Server, type Socket } from 'node:net';
import { join } from 'node:path';
import type { TLSSocket } from 'node:tls';
import { uncompress } from 'snappyjs';
import { describe, expect, onTestFinished, test } from 'vitest';
import { startMockServices } from '../../src/demo/mock-services.ts';
import { systemClock } from '../../src/runtime/clock.ts';
import { servedPort } from '../support/listening.ts';
import { type Program, start, temporaryDirectory } from '../support/program.ts';
import { portalEnvironment } from '../support/real-services.ts';
import { scrape } from '../support/scrape.ts';
import { until } from '../support/until.ts';
import { hasTlsClients, makePair, type Pair } from '../web/certificates.ts';

/** What reached a receiver. */
interface Arrived {
  readonly path: string;
  readonly headers: IncomingMessage['headers'];
  readonly text: string;
  /** The name in the certificate that the client showed. */
  readonly client: string | undefined;
}

const arrived: Arrived[] = [];

function receive(request: IncomingMessage, response: ServerResponse): void {
  const chunks: Buffer[] = [];
  request.on('data', (chunk: Buffer) => chunks.push(chunk));
  request.on('end', () => {
    const peer =
      request.socket instanceof Object && 'getPeerCertificate' in request.socket ? request.socket : undefined;
    const { subject } = (peer as TLSSocket | undefined)?.getPeerCertificate() ?? {};
    const text = Buffer.from(uncompress(Buffer.concat(chunks))).toString('latin1');
    const client = subject === undefined ? undefined : String(subject.CN);
    arrived.push({ path: request.url ?? '', headers: request.headers, text, client });
    response.writeHead(204).end();
  });
}

/** The port of a receiver to which nothing has come yet. */
function receiving(server: Server): Promise<number> {
  arrived.length = 0;
  return servedPort(server);
}

/** The program, sending to this receiver. */
async function sending(environment: Readonly<Record<string, string>>): Promise<Program> {
  const mocks = await startMockServices({ clock: systemClock, appliances: 1, volumes: 1 });
  onTestFinished(() => mocks.close());
  return start([], { environment: { ...portalEnvironment(mocks), ...environment } });
}

const somethingArrives = () => until('a request of remote write', () => arrived[0]);

function secretFile(text: string): string {
  const path = join(temporaryDirectory(), 'secret');
  writeFileSync(path, `${text}\n`, { mode: 0o600 });
  return path;
}

describe.runIf(hasTlsClients)('a receiver behind TLS', () => {
  const authorities = () => {
    const folder = temporaryDirectory();
    const authority = makePair(folder, 'authority', { authority: true });
    const server = makePair(folder, 'receiver', { names: 'DNS:localhost,DNS:receiver.invalid', by: authority });
    return { authority, server, client: makePair(folder, 'exporter-7', { by: authority }) };
  };
  const listen = (server: Pair, authority: Pair) =>
    receiving(
      createServer(
        {
          cert: server.certText,
          key: server.keyText,
          ca: authority.certText,
          requestCert: true,
          rejectUnauthorized: true,
        },
        receive,
      ),
    );
  const trusting = (port: number, authority: Pair, client: Pair) => ({
    REMOTE_WRITE_URL: `https://localhost:${port}/tenant/write`,
    REMOTE_WRITE_CA_FILE: authority.cert,
    REMOTE_WRITE_CERT_FILE: client.cert,
    REMOTE_WRITE_KEY_FILE: client.key,
    REMOTE_WRITE_TOKEN_FILE: secretFile('token-canary'),
    REMOTE_WRITE_HEADERS_FILE: secretFile('X-Scope-OrgID=tenant-7'),
  });

  test('gets the points with the certificate, token and headers that were configured, and the page stays complete', async () => {
    const { authority, server, client } = authorities();
    const program = await sending(trusting(await listen(server, authority), authority, client));
    const sent = 'filer_appliance_cpu_utilization_ratio';
    const {
      path,
      headers,
      text,
      client: shown,
    } = await until('the points of a series', () => arrived.find((request) => request.text.includes(sent)));
    expect({ path, shown }).toEqual({ path: '/tenant/write', shown: 'exporter-7' });
    expect(headers).toMatchObject({ authorization: 'Bearer token-canary', 'x-scope-orgid': 'tenant-7' });
    // The protocol demands it of every sender.
    expect(headers['user-agent']).toMatch(/^filer-exporter\/\d/);
    const page = await scrape(await program.serving());
    expect(page.all(sent)).toHaveLength(1);
    expect(text).toContain('filer-exporter-minutes');
    expect(page.sum('filer_appliance_up')).toBe(1);
    expect(page.value('filer_exporter_remote_write_points_total')).toBeGreaterThan(5);
    expect(program.stdout + program.stderr).not.toContain('canary');
  });

  test('gets nothing where its authority is not the named one, and the exporter goes on', async () => {
    const { server, authority, client } = authorities();
    const other = authorities();
    const environment = trusting(await listen(server, authority), other.authority, client);
    const program = await sending(environment);
    const url = await program.serving();
    const line = await until('the trouble to be told', () =>
      program.log.find(({ msg }) => msg.startsWith('remote write: the receiver accepts no points')),
    );
    expect(String(line.response)).toMatch(/certificate|self-signed/);
    expect((await scrape(url)).value('filer_api_up', { api: 'portal' })).toBe(1);
    expect(arrived).toEqual([]);
    expect(program.stdout).not.toContain('canary');
  });

  test('is reached through the proxy of HTTPS_PROXY, by a tunnel', async () => {
    const { authority, server, client } = authorities();
    const port = await listen(server, authority);
    const asked: { readonly url: string | undefined; readonly authorization: string | undefined }[] = [];
    const proxy = createPlainServer();
    proxy.on('connect', ({ url, headers }: IncomingMessage, socket: Socket) => {
      asked.push({ url, authorization: headers['proxy-authorization'] });
      const onward = connect(port, '127.0.0.1');
      for (const end of [socket, onward]) end.on('error', () => {});
      onTestFinished(() => void onward.destroy());
      socket.write('HTTP/1.1 200 Connection established\r\n\r\n');
      socket.pipe(onward).pipe(socket);
    });
    const through = `http://user:proxy-canary@127.0.0.1:${await receiving(proxy)}`;
    const environment = {
      ...trusting(port, authority, client),
      REMOTE_WRITE_URL: `https://receiver.invalid:${port}/write`,
      HTTPS_PROXY: through,
      NO_PROXY: '127.0.0.1',
    };
    const program = await sending(environment);
    expect((await somethingArrives()).client).toBe('exporter-7');
    const authorization = `Basic ${Buffer.from('user:proxy-canary').toString('base64')}`;
    expect(asked[0]).toEqual({ url: `receiver.invalid:${port}`, authorization });
    expect(program.stdout + program.stderr).not.toContain('canary');
  });
});

test('a receiver without TLS is reached through the proxy of HTTP_PROXY, which forwards the request', async () => {
  const forwarded: (string | undefined)[] = [];
  const proxy = createPlainServer((request, response) => {
    forwarded.push(request.url);
    receive(request, response);
  });
  const port = await receiving(proxy);
  const program = await sending({
    REMOTE_WRITE_URL: 'http://receiver.invalid/write',
    REMOTE_WRITE_USER: 'user',
    REMOTE_WRITE_PASSWORD: 'pass',
    HTTP_PROXY: `http://127.0.0.1:${port}`,
    NO_PROXY: '127.0.0.1',
    ALLOW_INSECURE_UPSTREAM: 'true',
  });
  const { headers } = await somethingArrives();
  expect(headers.authorization).toBe(`Basic ${Buffer.from('user:pass').toString('base64')}`);
  expect(forwarded[0]).toBe('http://receiver.invalid/write');
  expect(program.stdout).toContain('REMOTE_WRITE_URL without STATE_FILE');
});
