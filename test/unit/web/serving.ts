import { once } from 'node:events';
import { type IncomingMessage, type RequestOptions, request } from 'node:http';
import { connect, type Socket } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { onTestFinished } from 'vitest';
import type { ResponseBody } from '../../../src/exposition/format.ts';
import { systemClock } from '../../../src/runtime/clock.ts';
import { AccessControl } from '../../../src/web/access-control.ts';
import { type Compare, PasswordChecker } from '../../../src/web/passwords.ts';
import { textBody } from '../../../src/web/responses.ts';
import { type Pages, WebServer } from '../../../src/web/server.ts';
import type { WebRules } from '../../../src/web/web-config.ts';
import { keptLog } from '../../harness/kept-log.ts';
import type { ManualClock } from '../../harness/manual-clock.ts';
import { until } from '../../harness/until.ts';

export const EXPOSITION = 'a{l="ü"} 1\n';
export const GET_METRICS = 'GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n';
export const NO_RULES: WebRules = { tls: undefined, headers: {}, users: new Map(), rateLimit: undefined };

interface Settings extends Partial<Pages> {
  readonly clock?: ManualClock;
  readonly rules?: Partial<WebRules>;
  readonly compare?: Compare;
  readonly metricsPath?: string;
}

export function bodyOf(buffers: readonly Buffer[]): ResponseBody {
  return { length: buffers.reduce((sum, { length }) => sum + length, 0), buffers: () => buffers };
}

/** A server on a free port, which ends with the test. */
export async function serve({ clock, rules, compare, metricsPath = '/metrics', ...pages }: Settings = {}) {
  const { log, lines } = keptLog();
  const environment = { clock: clock ?? systemClock, log };
  const isRight: Compare = async ({ password }) => password === 'ge:heim';
  const passwords = new PasswordChecker(compare ?? isRight, Buffer.alloc(32, 1));
  const access = rules && new AccessControl({ ...NO_RULES, ...rules }, passwords, environment.clock);
  const page = (text: string) => ({ headers: { 'content-type': 'text/html' }, text });
  const served: Pages = {
    exposition: (format, gzip) => textBody(format === 'text' ? EXPOSITION : `${EXPOSITION}# EOF\n`, gzip),
    ready: () => true,
    statusPage: (query) => page(`status of ${query}`),
    statusJson: () => page('{}'),
    landingPage: () => page('landing'),
    ...pages,
  };
  const server = new WebServer({ host: '127.0.0.1', port: 0, metricsPath, access, pages: served, ...environment });
  const port = await server.listen();
  onTestFinished(() => server.close(AbortSignal.abort()));
  return { server, port, lines, get: (path = '/metrics', sent: RequestOptions = {}) => get(port, path, sent) };
}

/** A server whose expositions come when the test says so. */
export async function waiting(settings: Settings = {}) {
  const finishes: ((buffers?: readonly Buffer[]) => void)[] = [];
  const exposition = () =>
    new Promise<ResponseBody>((resolve) => {
      finishes.push((buffers = [Buffer.from(EXPOSITION)]) => resolve(bodyOf(buffers)));
    });
  return { ...(await serve({ exposition, ...settings })), finishes };
}

/** Sends a request, on a connection of its own if no agent is given, and reads the whole response. */
async function get(port: number, path: string, sent: RequestOptions) {
  const sending = request({ host: '127.0.0.1', port, path, agent: false, ...sent }).end();
  const [response]: IncomingMessage[] = await once(sending, 'response');
  if (response === undefined) throw new Error('expected a response');
  return { status: response.statusCode, headers: response.headers, body: await buffer(response) };
}

/** A connection by hand, which is not read before {@link closed} is called. */
export async function open(port: number, bytes = ''): Promise<Socket> {
  const socket = connect(port, '127.0.0.1')
    .pause()
    .on('error', () => {});
  onTestFinished(() => void socket.destroy());
  await once(socket, 'connect');
  socket.write(bytes);
  return socket;
}

/** Reads connections until the server has closed them all, and returns what it sent on the first. */
export async function closed(...sockets: readonly Socket[]): Promise<string> {
  let text = '';
  sockets[0]?.setEncoding('latin1').on('data', (more: string) => {
    text += more;
  });
  for (const socket of sockets) socket.resume();
  await until('the end of the connections', () => sockets.every(({ destroyed }) => destroyed));
  return text;
}

export const basic = (text: string) => ({ authorization: `Basic ${Buffer.from(text).toString('base64')}` });
