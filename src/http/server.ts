import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import type { ResponseBody } from '../exposition/body.ts';
import type { Format } from '../exposition/format.ts';
import type { Clock } from '../runtime/clock.ts';
import type { Log } from '../runtime/log.ts';
import { ALWAYS, refuseNonsense, sendText } from './answer.ts';
import { Answers } from './answers.ts';
import type { Connections } from './connections.ts';
import type { Document } from './document.ts';
import type { Front, Refusal } from './front.ts';
import { acceptsGzip, CONTENT_TYPES, chooseFormat } from './negotiate.ts';
import { parseInPieces } from './pieces.ts';
import { send } from './send.ts';

export interface Site {
  /** The exposition of one moment. */
  exposition(format: Format, gzip: boolean): Promise<ResponseBody>;
  /** Whether the first polls have ended. */
  ready(): boolean;
  statusPage(): Promise<Document>;
  statusJson(): Promise<Document>;
  landingPage(): Promise<Document>;
}

export interface ServerOptions {
  /** All addresses, IPv4 and IPv6, when undefined. */
  readonly host: string | undefined;
  /** 0 for any free port. */
  readonly port: number;
  readonly metricsPath: string;
  /** Scrapes served at once; further ones are answered 503. */
  readonly maxScrapes: number;
  readonly connections: Connections;
  /** TLS and authentication; without it everyone is admitted, over plain HTTP. */
  readonly front?: Front | undefined;
  readonly site: Site;
  readonly clock: Clock;
  readonly log: Log;
}

/** An answer not read within this time is cut off, if the scraper sends no time-out of its own; in milliseconds. */
const MAX_SCRAPE_MS = 120_000;

/** Far above what well-behaved clients need. */
const BOUNDS = {
  /** Request line and headers, in bytes; answered 431 above it. */
  maxHeaderSize: 16_384,
  /** For the headers, and for the whole request. */
  headersTimeout: 10_000,
  requestTimeout: 15_000,
  keepAliveTimeout: 75_000,
  /** How often the two are checked. */
  connectionsCheckingInterval: 5_000,
} as const;

/** No request needs a body; this many bytes of one are read and discarded. */
const MAX_BODY_BYTES = 65_536;

/** Pages sent at once; further ones are answered 503. */
const MAX_PAGES = 16;

/** Serves the exposition and the pages. No request waits for an API. */
export class ExpositionServer {
  readonly #settings: ServerOptions;
  readonly #server: Server;
  readonly #scrapes: Answers;
  readonly #pages: Answers;
  #closing = false;

  constructor(settings: ServerOptions) {
    const { connections, maxScrapes, clock } = settings;
    this.#settings = settings;
    this.#scrapes = new Answers(maxScrapes, connections, clock);
    this.#pages = new Answers(MAX_PAGES, connections, clock);
    // Node.js would answer a request without a host, or with an expectation, past the limit of requests ahead.
    this.#server = createServer({ ...BOUNDS, requireHostHeader: false });
    this.#guardConnections();
    this.#server.on('clientError', (error, socket: Socket) => {
      refuseNonsense(error, socket, (connections.of(socket)?.requests ?? 0) > 0);
    });
    for (const event of ['request', 'checkContinue', 'checkExpectation'] as const) {
      this.#server.on(event, async (_, response) => {
        if (await connections.inTurn(response)) this.#begin(response);
      });
    }
  }

  /** Listens; resolves with the port. Rejects if the address is not available. */
  async listen(): Promise<number> {
    const { host, port, log } = this.#settings;
    this.#server.listen({ port, ...(host === undefined ? {} : { host }) });
    await once(this.#server, 'listening');
    let isShort = false;
    // The machine is out of files or memory; without a listener this would end the process.
    this.#server.on('error', (err) => {
      if (!isShort) log.error({ err }, 'connection not accepted');
      isShort = true;
    });
    this.#server.on('connection', () => {
      isShort = false;
    });
    return (this.#server.address() as AddressInfo).port;
  }

  /** Accepts no more connections; resolves when the scrapes in progress have ended, or `signal` cuts them off. */
  close(signal: AbortSignal): Promise<void> {
    const { connections } = this.#settings;
    this.#closing = true;
    return new Promise((resolve) => {
      const cut = () => connections.cutAll();
      signal.addEventListener('abort', cut, { once: true });
      this.#server.close(() => {
        signal.removeEventListener('abort', cut);
        resolve();
      });
      this.#server.closeIdleConnections();
      if (signal.aborted) cut();
    });
  }

  /** Node handles a connection only after the limit and the guard. */
  #guardConnections(): void {
    const { front, connections } = this.#settings;
    const handlers = this.#server.listeners('connection');
    const handle = (socket: Socket) => {
      for (const handler of handlers) handler.call(this.#server, socket);
      parseInPieces(socket);
    };
    this.#server.removeAllListeners('connection');
    front?.serve(
      (secured) => {
        const connection = connections.of(secured);
        if (connection !== undefined) connection.generation = front.generation;
        handle(secured);
      },
      // Connections that are opened from now on follow the new rules.
      () => this.#server.closeIdleConnections(),
    );
    this.#server.on('connection', (socket: Socket) => {
      if (!connections.take(socket)) return;
      if (front === undefined) handle(socket);
      else front.accept(socket);
    });
  }

  #begin(response: ServerResponse): void {
    const { clock, log } = this.#settings;
    const { req: request } = response;
    const ended = new AbortController();
    // For every page: a client that does not read it holds a connection until then.
    void clock.sleep(scrapeTimeoutMs(request), ended.signal).then(() => response.destroy());
    response.once('close', () => {
      ended.abort();
      // Otherwise a connection that was busy when the server closed stays open for a next request that never arrives.
      if (this.#closing) request.socket.end();
    });
    this.#answer(response).catch((err: unknown) => {
      log.error({ err, path: pathOf(request) }, 'internal error while answering a request; please report');
      if (!response.headersSent) sendText(response, 500, 'internal error\n');
      else response.destroy();
    });
  }

  async #answer(response: ServerResponse): Promise<void> {
    const { site, metricsPath } = this.#settings;
    const { req: request } = response;
    const path = pathOf(request);
    response.setHeaders(new Map(Object.entries(ALWAYS)));
    discardBody(response);
    const refusal = invalidity(request) ?? (await this.#guard(response, path));
    if (refusal !== undefined) {
      sendText(response, refusal.status, refusal.text, refusal.headers);
      return;
    }
    const pages: Readonly<Record<string, () => Promise<void> | void>> = {
      [metricsPath]: () => this.#scrape(response),
      '/healthz': () => sendText(response, 200, 'ok\n'),
      '/readyz': () =>
        site.ready() ? sendText(response, 200, 'ready\n') : sendText(response, 503, 'the first polls have not ended\n'),
      '/status': () => this.#page(response, () => site.statusPage()),
      '/api/v1/status': () => this.#page(response, () => site.statusJson()),
      '/': () => this.#page(response, () => site.landingPage()),
    };
    const answer = Object.hasOwn(pages, path) ? pages[path] : undefined;
    if (answer === undefined) {
      sendText(response, 404, 'not found; / lists the pages\n');
    } else if (request.method !== 'GET' && request.method !== 'HEAD') {
      sendText(response, 405, 'only GET and HEAD\n', { allow: 'GET, HEAD' });
    } else await answer();
  }

  async #guard(response: ServerResponse, path: string): Promise<Refusal | undefined> {
    const { front, connections } = this.#settings;
    if (front === undefined) return undefined;
    const connection = connections.of(response.req.socket);
    response.setHeaders(new Map(Object.entries(front.headers)));
    if (connection?.generation !== front.generation) response.setHeader('connection', 'close');
    const admission = await front.admit(response.req, path);
    if (admission !== 'let in') {
      // Clients that were not admitted hold no connections, because their number is limited.
      response.setHeader('connection', 'close');
    } else if (connection !== undefined) connection.isKnown = true;
    return typeof admission === 'object' ? admission : undefined;
  }

  async #scrape(response: ServerResponse): Promise<void> {
    if (!this.#scrapes.begin(response)) {
      sendText(response, 503, 'too many scrapes at once (MAX_SCRAPES)\n', RETRY_SOON);
      return;
    }
    const { accept, 'accept-encoding': acceptEncoding } = response.req.headers;
    const format = chooseFormat(accept);
    const gzip = acceptsGzip(acceptEncoding);
    const headers = { 'content-type': CONTENT_TYPES[format], vary: 'Accept, Accept-Encoding' };
    await this.#send(response, headers, await this.#settings.site.exposition(format, gzip), gzip);
  }

  async #page(response: ServerResponse, make: () => Promise<Document>): Promise<void> {
    if (!this.#pages.begin(response)) {
      sendText(response, 503, 'too many pages at once\n', RETRY_SOON);
      return;
    }
    const document = await make();
    const gzip = acceptsGzip(response.req.headers['accept-encoding']);
    const headers = { ...document.headers, vary: 'Accept-Encoding', 'referrer-policy': 'no-referrer' };
    await this.#send(response, headers, await document.body(gzip), gzip);
  }

  /** Sends a body as fast as it is read. Headers that the operator has set for every answer are kept. */
  async #send(response: ServerResponse, headers: object, body: ResponseBody, gzip: boolean): Promise<void> {
    const all = { ...headers, ...(gzip && { 'content-encoding': 'gzip' }), 'content-length': body.length };
    for (const [name, value] of Object.entries(all)) if (!response.hasHeader(name)) response.setHeader(name, value);
    const { req: request } = response;
    if (request.method === 'HEAD') {
      response.end();
      return;
    }
    try {
      await send(response, body.buffers());
    } catch (err) {
      // The client disconnected or was too slow; everything it held is released.
      this.#settings.log.debug({ err, path: pathOf(request) }, 'answer not read to its end');
    }
  }
}

const RETRY_SOON = { 'retry-after': '1' };

function pathOf(request: IncomingMessage): string {
  const path = (request.url ?? '/').split('?', 1)[0] ?? '/';
  return ALIASES.get(path) ?? path;
}

/** The names that the same pages have in Prometheus. */
const ALIASES: ReadonlyMap<string, string> = new Map([
  ['/-/healthy', '/healthz'],
  ['/-/ready', '/readyz'],
]);

function discardBody(response: ServerResponse): void {
  const { req: request } = response;
  let bytes = 0;
  request.on('data', (chunk: Buffer) => {
    bytes += chunk.length;
    if (bytes <= MAX_BODY_BYTES) return;
    request.pause();
    if (response.writableFinished) request.socket.destroy();
    else response.once('close', () => request.socket.destroy());
  });
}

/** For a request that HTTP itself does not allow, or that expects what there is not here. */
function invalidity(request: IncomingMessage): Refusal | undefined {
  const { httpVersion, rawHeaders } = request;
  const { host, expect = '100-continue' } = request.headers;
  const headers = { connection: 'close' };
  const hosts = rawHeaders.filter((name, index) => index % 2 === 0 && name.toLowerCase() === 'host');
  if (hosts.length > 1) return { status: 400, headers, text: 'more than one Host header\n' };
  if (httpVersion === '1.1' && host === undefined) return { status: 400, headers, text: 'no Host header\n' };
  if (expect.toLowerCase() === '100-continue') return undefined;
  return { status: 417, headers, text: 'the expectation cannot be met\n' };
}

/** The scraper's own time-out, which Prometheus sends in a header, in milliseconds; bounded. */
function scrapeTimeoutMs(request: IncomingMessage): number {
  const told = Number(request.headers['x-prometheus-scrape-timeout-seconds']);
  return told > 0 ? Math.min(told * 1000, MAX_SCRAPE_MS) : MAX_SCRAPE_MS;
}
