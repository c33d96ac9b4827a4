/** Puts the simulated services on a free port of this machine. */
import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import type { SimulatedServices } from './services.ts';

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

export async function startServer(services: SimulatedServices): Promise<DemoServer> {
  const server = createServer((request, response) => {
    // A client may disconnect at any time, which is no failure of the services.
    response.on('error', () => {});
    serve(services, request, response).catch(() => response.destroy());
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

async function serve(services: SimulatedServices, request: IncomingMessage, response: ServerResponse) {
  const { method = '', url = '/' } = request;
  const service = url.startsWith(`${PREFIXES.gfa}/`) ? 'gfa' : 'portal';
  if (!url.startsWith(`${PREFIXES[service]}/`)) {
    response.writeHead(404).end();
    return;
  }
  const headers = Object.fromEntries(Object.entries(request.headers).map(([name, value]) => [name, String(value)]));
  const path = url.slice(PREFIXES[service].length);
  const { status, how, ...sent } = services.respond(service, { method, path, headers, body: await text(request) });
  if (how === 'hang') return;
  // Only the connection of the tests, which has no socket, cuts a body or delays it.
  if (how !== undefined) response.destroy();
  else response.writeHead(status, sent.headers).end(sent.body);
}
