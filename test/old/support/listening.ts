import type { Server as HttpServer } from 'node:http';
import { type AddressInfo, createServer, type Server } from 'node:net';
import { onTestFinished } from 'vitest';

/** Has a server listen on any free port of this machine, and gives the port. */
export function portOf(server: Server | HttpServer): Promise<number> {
  return new Promise((resolve, reject) => {
    server.once('error', reject).listen(0, '127.0.0.1', () => resolve((server.address() as AddressInfo).port));
  });
}

/** The same until the test ends. */
export async function servedPort(server: Server | HttpServer): Promise<number> {
  const port = await portOf(server);
  onTestFinished(() => {
    server.close();
    if ('closeAllConnections' in server) server.closeAllConnections();
  });
  return port;
}

/** A port that is free now. */
export async function freePort(): Promise<number> {
  const server = createServer();
  const port = await portOf(server);
  await new Promise((resolve) => server.close(resolve));
  return port;
}
