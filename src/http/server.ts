import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import type { Body } from '../exposition/body.ts';
import { CODINGS, type Coding } from '../exposition/compression.ts';
import type { HeldBody } from '../exposition/exposition.ts';
import type { Format } from '../exposition/format.ts';
import type { Clock } from '../runtime/clock.ts';
import type { Log } from '../runtime/log.ts';
import { HttpAnswer, refuseNonsense } from './answer.ts';
import { Answers } from './answers.ts';
import type { Connections } from './connections.ts';
import type { Document } from './document.ts';
import type { Front } from './front.ts';
import { acceptsGzip, CONTENT_TYPES, chooseCoding, chooseFormat } from './negotiate.ts';
import { parseInPieces } from './pieces.ts';
import { send } from './send.ts';

export interface Site {
  /** The exposition of one moment, compressed or, without a coding, plain. */
  exposition(format: Format, coding: Coding | undefined): Promise<HeldBody>;
  /** Whether the first polls have ended. */
  ready(): boolean;
  /** Pages for people, and the status as JSON. */
  statusPage(): Promise<Document>;
  statusJson(): Promise<Document>;
  landingPage(): Promise<Document>;
}

export interface ServerSettings {
  /** All addresses, IPv4 and IPv6, when undefined. */
  readonly host: string | undefined;
  /** 0 for any free port. */
  readonly port: number;
  readonly metricsPath: string;
  /** Scrapes served at once; further ones are answered 503. */
  readonly maxScrapes: number;
  /** Those that are open, up to a limit. */
  readonly connections: Connections;
  /** TLS and authentication; without it everyone is admitted, over plain HTTP. */
  readonly front?: Front | undefined;
  readonly site: Site;
  readonly clock: Clock;
  readonly log: Log;
}

/**
 * An answer that is not read within this time, in milliseconds, is cut off if the scraper sends no time-out of its own.
 */
const LONGEST_SCRAPE_MS = 120_000;

/** Limits for what clients send, far above what well-behaved clients need. */
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
const MOST_BODY_BYTES = 65_536;

/** Pages sent at once; further ones are answered 503. */
const MOST_PAGES = 16;

/** Requests of one connection without an answer yet; a client that sends more is disconnected. */
const MOST_AHEAD = 4;

/** Serves the exposition and the pages. No request waits for an API. */
export class ExpositionServer {
  readonly #settings: ServerSettings;
  readonly #server: Server;
  readonly #connections: Connections;
  readonly #scrapes: Answers;
  readonly #pages: Answers;
  /** For each connection, resolves when its latest request is answered. */
  readonly #answered = new WeakMap<Socket, Promise<unknown>>();
  #closing = false;
  #isShort = false;
  readonly #shakingHands = new Set<Socket>();
  readonly #generations = new WeakMap<Socket, number>();

  constructor(settings: ServerSettings) {
    this.#settings = settings;
    this.#connections = settings.connections;
    const cutOff = ({ socket }: ServerResponse) => socket !== null && this.#connections.close(socket, 'unread');
    this.#scrapes = new Answers(settings.maxScrapes, settings.clock, cutOff);
    this.#pages = new Answers(MOST_PAGES, settings.clock, cutOff);
    // Node.js answers a request without a host, or with an expectation, past `#take` and so past MOST_AHEAD.
    this.#server = createServer({ ...BOUNDS, ServerResponse: HttpAnswer, requireHostHeader: false });
    this.#guardConnections(settings.front);
    this.#server.on('clientError', (error, socket: Socket) =>
      refuseNonsense(error, socket, this.#connections.isBusy(socket)),
    );
    for (const event of ['request', 'checkContinue', 'checkExpectation'] as const) {
      this.#server.on(event, (request, response) => void this.#take(request, response));
    }
  }

  /** Listens; resolves with the port. Rejects if the address is not available. */
  async listen(): Promise<number> {
    const { host, port } = this.#settings;
    this.#server.listen({ port, ...(host === undefined ? {} : { host }) });
    await once(this.#server, 'listening');
    this.#server.on('error', (err) => this.#cannotTake(err));
    this.#server.on('connection', () => {
      this.#isShort = false;
    });
    return (this.#server.address() as AddressInfo).port;
  }

  /** Accepts no more connections; resolves when the scrapes in progress have ended, or `signal` cuts them off. */
  close(signal: AbortSignal): Promise<void> {
    this.#closing = true;
    return new Promise((resolve) => {
      const cut = () => {
        this.#server.closeAllConnections();
        for (const socket of this.#shakingHands) socket.destroy();
      };
      signal.addEventListener('abort', cut, { once: true });
      this.#server.close(() => {
        signal.removeEventListener('abort', cut);
        resolve();
      });
      this.#server.closeIdleConnections();
      if (signal.aborted) cut();
    });
  }

  /** The machine is out of files or memory; without a listener the error would end the process. Logged once until a connection arrives. */
  #cannotTake(err: Error): void {
    if (!this.#isShort) this.#settings.log.error({ err }, 'connection not accepted');
    this.#isShort = true;
  }

  /** Node handles a connection only after the limit and the guard. */
  #guardConnections(front: Front | undefined): void {
    const handlers = this.#server.listeners('connection');
    const handle = (socket: Socket) => {
      for (const handler of handlers) handler.call(this.#server, socket);
      parseInPieces(socket);
    };
    this.#server.removeAllListeners('connection');
    front?.serve(
      (secured) => {
        this.#generations.set(secured, front.generation);
        handle(secured);
      },
      // Those that follow know the rules of now.
      () => this.#server.closeIdleConnections(),
    );
    this.#server.on('connection', (socket: Socket) => {
      if (!this.#connections.take(socket)) return;
      if (front === undefined) {
        handle(socket);
        return;
      }
      this.#shakingHands.add(socket);
      socket.once('close', () => this.#shakingHands.delete(socket));
      front.accept(socket);
    });
  }

  /** Answers the requests of a connection in order, however many are sent ahead: each answer takes memory. */
  async #take(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { socket } = request;
    // A request that was parsed before its client was disconnected.
    if (socket.destroyed) return;
    if (this.#connections.asked(socket) > MOST_AHEAD) {
      this.#connections.close(socket, 'pipelined');
      return;
    }
    const before = this.#answered.get(socket);
    const closed = new Promise((resolve) => response.once('close', resolve));
    this.#answered.set(socket, closed);
    void closed.then(() => this.#connections.answered(socket));
    await before;
    if (!socket.destroyed) this.#begin(request, response);
  }

  #begin(request: IncomingMessage, response: ServerResponse): void {
    const { clock, log } = this.#settings;
    const ended = new AbortController();
    // For every page: a client that does not read it holds a connection until then.
    void clock.sleep(scrapeTimeoutMs(request), ended.signal).then(() => response.destroy());
    response.once('close', () => {
      ended.abort();
      // Otherwise a connection that was busy when the server closed stays open for a next request that never arrives.
      if (this.#closing) request.socket.end();
    });
    this.#answer(request, response).catch((err: unknown) => {
      log.error({ err, path: pathOf(request) }, 'internal error while answering a request; please report');
      if (!response.headersSent) sendText(response, 500, 'internal error\n');
      else response.destroy();
    });
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { site, metricsPath, front } = this.#settings;
    const path = pathOf(request);
    throwAway(request, response);
    const refusal = refusalOf(request);
    if (refusal !== undefined) {
      response.setHeader('connection', 'close');
      sendText(response, ...refusal);
      return;
    }
    if (front !== undefined) {
      for (const [name, value] of Object.entries(front.headers)) response.setHeader(name, value);
      if (this.#generations.get(request.socket) !== front.generation) response.setHeader('connection', 'close');
      const admission = await front.admit(request, path);
      if (admission === 'let in') this.#connections.letIn(request.socket);
      // Clients that were not admitted hold no connections, because their number is limited.
      else response.setHeader('connection', 'close');
      if (typeof admission === 'object') {
        for (const [name, value] of Object.entries(admission.headers)) response.setHeader(name, value);
        sendText(response, admission.status, admission.text);
        return;
      }
    }
    const page = (make: () => Promise<Document>) => this.#page(request, response, make);
    const pages: Readonly<Record<string, () => Promise<void> | void>> = {
      [metricsPath]: () => this.#scrape(request, response),
      '/healthz': () => sendText(response, 200, 'ok\n'),
      '/readyz': () =>
        site.ready() ? sendText(response, 200, 'ready\n') : sendText(response, 503, 'the first polls have not ended\n'),
      '/status': () => page(() => site.statusPage()),
      '/api/v1/status': () => page(() => site.statusJson()),
      '/': () => page(() => site.landingPage()),
    };
    const answer = Object.hasOwn(pages, path) ? pages[path] : undefined;
    if (answer === undefined) {
      sendText(response, 404, 'not found; / lists the pages\n');
    } else if (request.method !== 'GET' && request.method !== 'HEAD') {
      response.setHeader('allow', 'GET, HEAD');
      sendText(response, 405, 'only GET and HEAD\n');
    } else await answer();
  }

  async #scrape(request: IncomingMessage, response: ServerResponse): Promise<void> {
    if (!this.#scrapes.begin(response)) {
      sendBusy(response, 'too many scrapes at once (MAX_SCRAPES)\n');
      return;
    }
    const format = chooseFormat(request.headers.accept);
    const coding = chooseCoding(request.headers['accept-encoding'], CODINGS);
    const body = await this.#settings.site.exposition(format, coding);
    const headers = { 'content-type': CONTENT_TYPES[format], vary: 'Accept, Accept-Encoding' };
    try {
      await this.#send(request, response, headers, body, coding);
    } finally {
      body.release();
    }
  }

  async #page(request: IncomingMessage, response: ServerResponse, make: () => Promise<Document>): Promise<void> {
    if (!this.#pages.begin(response)) {
      sendBusy(response, 'too many pages at once\n');
      return;
    }
    const document = await make();
    const gzip = acceptsGzip(request.headers['accept-encoding']);
    const headers = { ...document.headers, vary: 'Accept-Encoding', 'referrer-policy': 'no-referrer' };
    await this.#send(request, response, headers, await document.body(gzip), gzip ? 'gzip' : undefined);
  }

  /** Sends a body as fast as it is read. Headers that the operator has set for every answer are kept. */
  async #send(
    request: IncomingMessage,
    response: ServerResponse,
    headers: Readonly<Record<string, string>>,
    body: Body,
    coding: Coding | undefined,
  ): Promise<void> {
    const all = { ...headers, ...(coding && { 'content-encoding': coding }), 'content-length': body.length };
    for (const [name, value] of Object.entries(all)) if (!response.hasHeader(name)) response.setHeader(name, value);
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

function pathOf(request: IncomingMessage): string {
  return (request.url ?? '/').split('?', 1)[0] ?? '/';
}

/** Discards a body, up to a limit. */
function throwAway(request: IncomingMessage, response: ServerResponse): void {
  let bytes = 0;
  request.on('data', (chunk: Buffer) => {
    bytes += chunk.length;
    if (bytes <= MOST_BODY_BYTES) return;
    request.pause();
    if (response.writableFinished) request.socket.destroy();
    else response.once('close', () => request.socket.destroy());
  });
}

/** Status and text for a request that HTTP itself does not allow, or that expects what there is not here. */
function refusalOf({ httpVersion, headers }: IncomingMessage): readonly [status: number, text: string] | undefined {
  if (httpVersion === '1.1' && headers.host === undefined) return [400, 'no Host header\n'];
  const { expect = '100-continue' } = headers;
  return expect.toLowerCase() === '100-continue' ? undefined : [417, 'the expectation cannot be met\n'];
}

/** The scraper's own time-out, which Prometheus sends in a header, in milliseconds; bounded. */
function scrapeTimeoutMs(request: IncomingMessage): number {
  const told = Number(request.headers['x-prometheus-scrape-timeout-seconds']);
  return told > 0 ? Math.min(told * 1000, LONGEST_SCRAPE_MS) : LONGEST_SCRAPE_MS;
}

function sendBusy(response: ServerResponse, text: string): void {
  response.setHeader('retry-after', '1');
  sendText(response, 503, text);
}

function sendText(response: ServerResponse, status: number, text: string): void {
  response.writeHead(status, {
    'content-type': 'text/plain; charset=utf-8',
    'content-length': Buffer.byteLength(text),
  });
  response.end(text);
}
