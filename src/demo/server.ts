/** Puts the simulated services on a free port of this machine, and sends what goes wrong with a connection. */
import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import type { Clock } from '../runtime/clock.ts';
import type { SentResponse, SimulatedServices } from './services.ts';

export interface DemoServer {
  readonly gfaUrl: string;
  readonly portalUrl: string;
  /** Closes open connections, too. */
  close(): Promise<void>;
}

/** The prefixes of the two services. */
const PREFIXES = { gfa: '/gfa/v1', portal: '/portal' } as const;

/** A state file belongs to the URLs of its services, so that a second demo continues from the state of the first one. */
const USUAL_PORT = 9_988;
const ANY_PORT = 0;

export async function startServer(services: SimulatedServices, clock: Clock): Promise<DemoServer> {
  const server = createServer((request, response) => {
    // A client may disconnect at any time, which is no failure of the services.
    response.on('error', () => {});
    serve(services, clock, request, response).catch(() => response.destroy());
  });
  // Longer than clients keep an idle connection, so that none is closed while a request is on its way.
  server.keepAliveTimeout = 120_000;
  await listen(server, USUAL_PORT).catch(() => listen(server, ANY_PORT));
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    gfaUrl: origin + PREFIXES.gfa,
    portalUrl: origin + PREFIXES.portal,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

async function listen(server: Server, port: number): Promise<void> {
  server.listen(port, '127.0.0.1');
  await once(server, 'listening');
}

async function serve(services: SimulatedServices, clock: Clock, request: IncomingMessage, response: ServerResponse) {
  const { method = '', url = '/' } = request;
  const service = url.startsWith(`${PREFIXES.gfa}/`) ? 'gfa' : 'portal';
  if (!url.startsWith(`${PREFIXES[service]}/`)) {
    response.writeHead(404).end();
    return;
  }
  const headers = Object.fromEntries(Object.entries(request.headers).map(([name, value]) => [name, String(value)]));
  const path = url.slice(PREFIXES[service].length);
  const sent = services.respond(service, { method, path, headers, body: await text(request) });
  await send(sent, response, clock);
}

async function send(
  { status, headers, body, how }: SentResponse,
  response: ServerResponse,
  clock: Clock,
): Promise<void> {
  if (how === 'hang') return;
  if (how === 'reset') {
    response.destroy();
    return;
  }
  const bytes = Buffer.from(body);
  response.writeHead(status, { ...headers, 'content-length': bytes.length });
  if (how === undefined) {
    response.end(bytes);
    return;
  }
  response.flushHeaders();
  if (how === 'drip') {
    for (const byte of bytes) {
      await clock.sleep(1000);
      if (response.destroyed) return;
      response.write(Uint8Array.of(byte));
    }
    response.end();
    return;
  }
  const half = bytes.subarray(0, Math.floor(bytes.length / 2));
  response.write(half, () => {
    if (how === 'cut') response.destroy();
  });
}
