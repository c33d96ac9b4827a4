import { once } from 'node:events';
import { createServer, type Server as HttpServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { type AddressInfo, createServer as createListener, type Server, type Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import type { ResponseBody } from '../exposition/body.ts';
import type { Format } from '../exposition/format.ts';
import { type Clock, callAfter } from '../runtime/clock.ts';
import type { Log } from '../runtime/log.ts';
import type { AccessControl, AccessDecision } from './access-control.ts';
import { ActiveResponses } from './active-responses.ts';
import type { CachedDocument } from './cached-document.ts';
import type { Connections } from './connections.ts';
import { acceptsGzip, CONTENT_TYPES, chooseFormat } from './negotiate.ts';
import { type RequestStream, readRequest } from './request-stream.ts';
import { sendBody } from './send-body.ts';
import { COMMON_HEADERS, sendText } from './small-responses.ts';

/** What the server serves. */
export interface Pages {
  /** Returns the exposition at this moment. */
  exposition(format: Format, gzip: boolean): Promise<ResponseBody>;
  /** Whether the first polls have ended. */
  ready(): boolean;
  /** `query` is that of the request, without its `?`. */
  statusPage(query: string): Promise<CachedDocument>;
  statusJson(): Promise<CachedDocument>;
  landingPage(): Promise<CachedDocument>;
}

export interface ServerOptions {
  /** If undefined, the server listens on all addresses, IPv4 and IPv6. */
  readonly host: string | undefined;
  /** 0 selects any free port. */
  readonly port: number;
  readonly metricsPath: string;
  /** Scrapes served at once; additional ones get 503. */
  readonly maxScrapes: number;
  readonly connections: Connections;
  /** TLS and authentication; without it everyone may read the pages over plain HTTP. */
  readonly accessControl?: AccessControl | undefined;
  readonly pages: Pages;
  readonly clock: Clock;
  readonly log: Log;
}

/** How long a client may take to read a response before it is cut off, in milliseconds; a scraper may send a shorter time-out. */
const MAX_RESPONSE_MS = 120_000;

/** Pages sent at once; additional ones get 503. */
const MAX_PAGES = 16;

/** A client's connection as it was accepted, and the encrypted connection over it; both are the same without TLS. */
interface Client {
  readonly accepted: Socket;
  readonly secured: Socket;
  readonly request: RequestStream;
}

/** What is read of a connection before its requests are parsed: Node.js 22 reads four times as much as 20 by default. */
const READ_AHEAD_BYTES = 4 * 1024;

/**
 * Serves the exposition and the pages. No request waits for a service. A listener accepts connections and passes them,
 * through TLS if it is configured, to an HTTP server that does not listen. Each connection carries one request, and what
 * follows it is not read, so that no client can send requests faster than it reads the responses, and a connection is
 * as old as its request.
 */
export class ExpositionServer {
  readonly #options: ServerOptions;
  readonly #listener: Server;
  readonly #http: HttpServer;
  readonly #clients = new WeakMap<Duplex, Client>();
  readonly #scrapes: ActiveResponses;
  readonly #documents: ActiveResponses;

  constructor(options: ServerOptions) {
    const { connections, maxScrapes, clock } = options;
    this.#options = options;
    this.#scrapes = new ActiveResponses(maxScrapes, connections, clock);
    this.#documents = new ActiveResponses(MAX_PAGES, connections, clock);
    this.#listener = createListener({ allowHalfOpen: true, noDelay: true, highWaterMark: READ_AHEAD_BYTES }, (socket) =>
      this.#accept(socket),
    );
    this.#http = createServer((_, response) => this.#begin(response));
    this.#http.maxRequestsPerSocket = 1;
  }

  /** Listens; resolves with the port. Rejects if the address is not available. */
  async listen(): Promise<number> {
    const { host, port, log } = this.#options;
    this.#listener.listen({ port, ...(host === undefined ? {} : { host }) });
    await once(this.#listener, 'listening');
    let isShort = false;
    // The event means that the machine is out of files or memory. Without a listener it would end the process.
    this.#listener.on('error', (err) => {
      if (!isShort)
        log.error({ err }, 'A connection could not be accepted: the machine may be out of files or memory.');
      isShort = true;
    });
    this.#listener.on('connection', () => {
      isShort = false;
    });
    return (this.#listener.address() as AddressInfo).port;
  }

  /** Accepts no more connections; resolves when the requests in progress have ended, or `signal` cuts them off. */
  close(signal: AbortSignal): Promise<void> {
    const { connections } = this.#options;
    return new Promise((resolve) => {
      const cutOff = () => connections.destroyAll();
      signal.addEventListener('abort', cutOff, { once: true });
      this.#listener.close(() => {
        signal.removeEventListener('abort', cutOff);
        resolve();
      });
      connections.destroyWaiting();
      if (signal.aborted) cutOff();
    });
  }

  #accept(accepted: Socket): void {
    const { connections, accessControl } = this.#options;
    // The event means that the client has reset the connection. Without a listener it would end the process.
    accepted.on('error', () => {});
    if (!connections.add(accepted, () => this.#scrapes.cutOffUnread() || this.#documents.cutOffUnread())) return;
    const serve = (secured: Socket) => {
      const request = readRequest(secured);
      this.#clients.set(request.stream, { accepted, secured, request });
      this.#http.emit('connection', request.stream);
    };
    if (accessControl === undefined) serve(accepted);
    else accessControl.secure(accepted, serve);
  }

  #begin(response: ServerResponse): void {
    const { connections, clock, log } = this.#options;
    const { req: request } = response;
    const client = this.#clients.get(request.socket);
    // The parser may find a request after its connection was closed.
    if (client === undefined || request.socket.destroyed) return;
    client.request.stop();
    connections.markRequested(client.accepted);
    // This limits every page, because a client that does not read it keeps a connection open.
    response.once(
      'close',
      callAfter(clock, scrapeTimeoutMs(request), () => response.destroy()),
    );
    this.#respond(response, client.secured).catch((err: unknown) => {
      log.error(
        { err, path: pathOf(request) },
        'An internal error occurred while responding to a request: please report it.',
      );
      if (!response.headersSent) sendText(response, 500, 'internal error\n');
      else response.destroy();
    });
  }

  async #respond(response: ServerResponse, secured: Socket): Promise<void> {
    const { pages, metricsPath } = this.#options;
    const { req: request } = response;
    const path = pathOf(request);
    response.setHeaders(new Map(Object.entries(COMMON_HEADERS)));
    const decision = await this.#decide(response, path, secured);
    if (decision !== 'allowed') {
      sendText(response, decision.status, decision.text, decision.headers);
      return;
    }
    const handlers: Readonly<Record<string, () => Promise<void> | void>> = {
      [metricsPath]: () => this.#sendMetrics(response),
      '/healthz': () => sendText(response, 200, 'ok\n'),
      '/readyz': () =>
        pages.ready()
          ? sendText(response, 200, 'ready\n')
          : sendText(response, 503, 'the first polls have not ended\n'),
      '/status': () => this.#sendDocument(response, () => pages.statusPage(queryOf(request))),
      '/api/v1/status': () => this.#sendDocument(response, () => pages.statusJson()),
      '/': () => this.#sendDocument(response, () => pages.landingPage()),
    };
    const handler = Object.hasOwn(handlers, path) ? handlers[path] : undefined;
    if (handler === undefined) {
      sendText(response, 404, 'not found; / lists the pages\n');
    } else if (request.method !== 'GET' && request.method !== 'HEAD') {
      sendText(response, 405, 'only GET and HEAD\n', { allow: 'GET, HEAD' });
    } else await handler();
  }

  #decide(response: ServerResponse, path: string, secured: Socket): Promise<AccessDecision> | AccessDecision {
    const { accessControl } = this.#options;
    if (accessControl === undefined) return 'allowed';
    response.setHeaders(new Map(Object.entries(accessControl.headers)));
    return accessControl.decide(response.req, path, secured);
  }

  async #sendMetrics(response: ServerResponse): Promise<void> {
    if (!this.#scrapes.add(response)) {
      sendText(response, 503, 'too many scrapes at once (MAX_SCRAPES)\n', RETRY_SOON);
      return;
    }
    const { accept, 'accept-encoding': acceptEncoding } = response.req.headers;
    const format = chooseFormat(accept);
    const gzip = acceptsGzip(acceptEncoding);
    const headers = { 'content-type': CONTENT_TYPES[format], vary: 'Accept, Accept-Encoding' };
    await this.#send(response, headers, await this.#options.pages.exposition(format, gzip), gzip);
  }

  async #sendDocument(response: ServerResponse, read: () => Promise<CachedDocument>): Promise<void> {
    if (!this.#documents.add(response)) {
      sendText(response, 503, 'too many pages at once\n', RETRY_SOON);
      return;
    }
    const document = await read();
    const gzip = acceptsGzip(response.req.headers['accept-encoding']);
    const headers = { ...document.headers, vary: 'Accept-Encoding', 'referrer-policy': 'no-referrer' };
    await this.#send(response, headers, await document.body(gzip), gzip);
  }

  /** Sends a body as fast as it is read. Headers that the operator has set for every response are kept. */
  async #send(response: ServerResponse, headers: object, body: ResponseBody, gzip: boolean): Promise<void> {
    const allHeaders = { ...headers, ...(gzip && { 'content-encoding': 'gzip' }), 'content-length': body.length };
    for (const [name, value] of Object.entries(allHeaders))
      if (!response.hasHeader(name)) response.setHeader(name, value);
    const { req: request } = response;
    if (request.method === 'HEAD') {
      response.end();
      return;
    }
    try {
      await sendBody(response, body.buffers(), this.#options.clock);
    } catch (err) {
      // The client disconnected or was too slow.
      this.#options.log.debug({ err, path: pathOf(request) }, 'The client did not read the response to its end.');
    }
  }
}

const RETRY_SOON = { 'retry-after': '1' };

function pathOf(request: IncomingMessage): string {
  const path = (request.url ?? '/').split('?', 1)[0] ?? '/';
  return ALIASES.get(path) ?? path;
}

function queryOf({ url = '' }: IncomingMessage): string {
  return url.split('?').slice(1).join('?');
}

/** The paths of the same pages in Prometheus. */
const ALIASES: ReadonlyMap<string, string> = new Map([
  ['/-/healthy', '/healthz'],
  ['/-/ready', '/readyz'],
]);

/** Returns the time-out that Prometheus sends in a header, in milliseconds, but at most {@link MAX_RESPONSE_MS}. */
function scrapeTimeoutMs(request: IncomingMessage): number {
  const seconds = Number(request.headers['x-prometheus-scrape-timeout-seconds']);
  return seconds > 0 ? Math.min(seconds * 1000, MAX_RESPONSE_MS) : MAX_RESPONSE_MS;
}
