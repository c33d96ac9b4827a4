import { type IncomingHttpHeaders, request } from 'node:http';
import { connect, type Socket } from 'node:net';
import { onTestFinished } from 'vitest';
import type { ResponseBody } from '../../src/exposition/body.ts';
import type { Format } from '../../src/exposition/format.ts';
import { CachedDocument } from '../../src/http/cached-document.ts';
import { Connections } from '../../src/http/connections.ts';
import { ExpositionServer, type Pages, type ServerOptions } from '../../src/http/server.ts';
import { systemClock } from '../../src/runtime/clock.ts';
import { Lines } from '../polling/fleet.ts';
import { settle } from '../support/manual-clock.ts';

/** What is served unless a test says otherwise. */
export const exposition = [Buffer.from('# HELP a A.\n# TYPE a gauge\n'), Buffer.from('a{l="ü"} 1\n')];

/** A page of this text. */
export function document(text: string, type = 'text/html; charset=utf-8'): CachedDocument {
  return new CachedDocument({ 'content-type': type, 'content-security-policy': "default-src 'none'" }, [
    Buffer.from(text),
  ]);
}

/** A site's answer of these buffers. */
export function serving(buffers: readonly Buffer[] | Promise<readonly Buffer[]>) {
  return async (_: Format, gzip: boolean): Promise<ResponseBody> => new CachedDocument({}, await buffers).body(gzip);
}

/** An answer read whole. */
export interface Heard {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
}

/** A server on a free port of this machine, which ends with the test. */
export async function serve(
  pages: Partial<Pages> = {},
  { maxConnections = 256, ...settings }: Partial<ServerOptions> & { readonly maxConnections?: number } = {},
) {
  const lines = new Lines();
  const connections = new Connections(maxConnections, settings.clock ?? systemClock, lines);
  const server = new ExpositionServer({
    host: '127.0.0.1',
    port: 0,
    metricsPath: '/metrics',
    maxScrapes: 40,
    connections,
    clock: systemClock,
    log: lines,
    pages: {
      exposition: serving(exposition),
      ready: () => true,
      statusPage: () => Promise.resolve(document('<!doctype html>status ü')),
      statusJson: () => Promise.resolve(document('{"status":"ü"}', 'application/json; charset=utf-8')),
      landingPage: () => Promise.resolve(document('<!doctype html>landing')),
      ...pages,
    },
    ...settings,
  });
  const port = await server.listen();
  onTestFinished(() => server.close(AbortSignal.abort()));
  const ask = (path = '/metrics', headers: Readonly<Record<string, string>> = {}, method = 'GET') =>
    heard(port, path, headers, method);
  return { server, connections, port, ask, lines };
}

/** Asks on a connection of its own. */
function heard(port: number, path: string, headers: Readonly<Record<string, string>>, method: string): Promise<Heard> {
  return new Promise((resolve, reject) => {
    const asked = request({ host: '127.0.0.1', port, path, method, headers, agent: false }, (answer) => {
      const chunks: Buffer[] = [];
      answer.on('data', (chunk: Buffer) => chunks.push(chunk));
      answer.on('error', reject);
      answer.on('end', () => {
        resolve({ status: answer.statusCode ?? 0, headers: answer.headers, body: Buffer.concat(chunks) });
      });
    });
    asked.on('error', reject);
    asked.end();
  });
}

/** A scraper that asks and then does not read; it ends with the test. */
export async function sluggish(port: number, head = 'GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n'): Promise<Socket> {
  const socket = connect(port, '127.0.0.1');
  socket.on('error', () => {});
  socket.pause();
  onTestFinished(() => void socket.destroy());
  await new Promise((resolve) => socket.once('connect', resolve));
  socket.write(head);
  return socket;
}

/** Reads on a connection; gives what has come so far. */
export function reading(socket: Socket): () => string {
  let heard = '';
  socket.setEncoding('latin1').on('data', (text: string) => {
    heard += text;
  });
  socket.resume();
  return () => heard;
}

/** Turns the event loop until it is so; the machine's sockets are not moved by any clock of ours. */
export async function until(so: () => boolean | Promise<boolean>): Promise<void> {
  for (let turns = 0; !(await so()); turns += 1) {
    if (turns > 200_000) throw new Error('it never came to be');
    await settle();
  }
}

/** Far more than the buffers of a connection hold, in many pieces. */
export const large = Array.from({ length: 200 }, () => Buffer.alloc(100_000, 'a 1\n'));
