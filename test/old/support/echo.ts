import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { text } from 'node:stream/consumers';
import { servedPort } from './listening.ts';

/** A service that tells everybody what it was sent, and a proxy that does so too. */
export interface Echo {
  readonly origin: string;
  /** How many requests it has answered. */
  readonly answered: number;
  /** Every `Authorization`, `Proxy-Authorization` and the like that reached it, and every body. */
  readonly received: readonly string[];
}

/** What it answers, in turn. */
const STATUSES = [500, 401, 400, 422, 403, 404, 409, 200, 503, 302] as const;

/** Starts one; `token` is the body of its token answers, undefined where it takes no credentials. */
export async function startEcho(token: unknown): Promise<Echo> {
  const received: string[] = [];
  let answered = 0;
  const answer = async (request: IncomingMessage, response: ServerResponse) => {
    const body = await text(request);
    received.push(JSON.stringify(request.headers), body);
    const isToken = request.url?.includes('/auth/token') === true && request.method === 'POST';
    const status = isToken ? (token === undefined ? 401 : 200) : STATUSES[answered % STATUSES.length];
    answered += isToken ? 0 : 1;
    response.writeHead(status ?? 500, {
      'content-type': 'application/json',
      'retry-after': '1',
      location: request.url,
    });
    if (isToken) response.end(JSON.stringify(token ?? refusal(request, body)));
    else response.end(complaint(request, body, answered));
  };
  const server = createServer((request, response) => void answer(request, response));
  server.on('connect', (request, socket) => {
    received.push(JSON.stringify(request.headers));
    answered += 1;
    const body = complaint(request, '', 0);
    socket.end(`HTTP/1.1 407 ${said(request)}\r\ncontent-length: ${Buffer.byteLength(body)}\r\n\r\n${body}`);
  });
  const port = await servedPort(server);
  return {
    origin: `http://127.0.0.1:${port}`,
    get answered() {
      return answered;
    },
    received,
  };
}

/** A rejected request for a token, told back as it was sent and as it was meant. */
function refusal(request: IncomingMessage, body: string): object {
  const meant = [...new URLSearchParams(body)].map(([name, value]) => `${name}: ${value}`).join(' ');
  return { message: `${said(request)} ${body} ${meant}`, detail: body };
}

/** An error body that repeats headers and body, in every member that a client might show; now and then no JSON at all. */
function complaint(request: IncomingMessage, body: string, turn: number): string {
  const whole = `${JSON.stringify(request.headers)} ${body}`;
  if (turn % 7 === 3) return `<html>${whole}</html>`;
  const short = turn % 2 === 0 ? said(request) : whole;
  return JSON.stringify({
    message: short,
    error: short,
    detail: [{ msg: whole, input: body, headers: request.headers }],
  });
}

/** The credentials and nothing else, where a message may be cut. */
function said({ headers }: IncomingMessage): string {
  const names = ['authorization', 'proxy-authorization', 'x-service-key', 'x-service-secret', 'x-user-key'];
  return names.flatMap((name) => headers[name] ?? []).join(' ');
}
