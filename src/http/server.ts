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
import { type Document, sendDocument } from './document.ts';
import type { Front } from './front.ts';
import { CONTENT_TYPES, chooseCoding, chooseFormat } from './negotiate.ts';
import { parseInPieces } from './pieces.ts';
import { send } from './send.ts';

/** What the server asks of the rest of the program. */
export interface Site {
  /** One moment of the whole exposition, packed or, without a coding, plain. */
  exposition(format: Format, coding: Coding | undefined): Promise<HeldBody>;
  /** Whether the first polls have ended. */
  ready(): boolean;
  /** Pages for people, and the status as JSON. */
  statusPage(): Promise<Document>;
  statusJson(): Promise<Document>;
  landingPage(): Promise<Document>;
}

/** What a server needs. */
export interface ServerSettings {
  /** All addresses, IPv4 and IPv6, when undefined. */
  readonly host: string | undefined;
  /** 0 for any free port. */
  readonly port: number;
  readonly metricsPath: string;
  /** Scrapes served at once; 503 beyond. */
  readonly maxScrapes: number;
  /** Those that are open, up to a limit. */
  readonly connections: Connections;
  /** TLS and who may ask; without it everybody may, in plain. */
  readonly front?: Front | undefined;
  readonly site: Site;
  readonly clock: Clock;
  readonly log: Log;
}

/** An answer that is not read within this, in milliseconds, is cut off where the scraper names no time-out of its own. */
const LONGEST_SCRAPE_MS = 120_000;

/** Bounds for what clients send. Nobody who means well comes near them. */
const BOUNDS = {
  /** Request line and headers, in bytes; 431 beyond. */
  maxHeaderSize: 16_384,
  /** For the headers, and for the whole request. */
  headersTimeout: 10_000,
  requestTimeout: 15_000,
  keepAliveTimeout: 75_000,
  /** How often the two are looked at. */
  connectionsCheckingInterval: 5_000,
} as const;

/** Nothing here takes a body; of one that comes anyway so many bytes are read and thrown away. */
const MOST_BODY_BYTES = 65_536;

/** Pages sent at once; 503 beyond. */
const MOST_PAGES = 16;

/** Requests of one connection that are not answered yet; a client that sends more ahead of its answers is cut off. */
const MOST_AHEAD = 4;

/** Serves the exposition and the pages. No request ever waits for an API. */
export class ExpositionServer {
  readonly #settings: ServerSettings;
  readonly #server: Server;
  readonly #connections: Connections;
  readonly #scrapes: Answers;
  readonly #pages: Answers;
  /** For each connection, when the answer to its latest request will have ended. */
  readonly #answered = new WeakMap<Socket, Promise<unknown>>();
  #closing = false;
  #isShort = false;
  /** Connections that are not secured yet. */
  readonly #shakingHands = new Set<Socket>();
  /** Which rules a connection was made under. */
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

  /** Listens; resolves with the port. Rejects when the address cannot be had. */
  listen(): Promise<number> {
    const { host, port } = this.#settings;
    return new Promise((resolve, reject) => {
      this.#server.once('error', reject);
      this.#server.listen({ port, ...(host === undefined ? {} : { host }) }, () => {
        this.#server.off('error', reject);
        this.#server.on('error', (err) => this.#cannotTake(err));
        this.#server.on('connection', () => {
          this.#isShort = false;
        });
        resolve((this.#server.address() as AddressInfo).port);
      });
    });
  }

  /** Takes no more connections and resolves when the scrapes under way have ended, or `signal` cuts them off. */
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

  /** Node's own handling of a connection comes after the limit and the front, and not at once. */
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

  /** Answers the requests of a connection one after the other, however many are sent ahead: each answer takes memory. */
  async #take(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { socket } = request;
    // What was parsed already of a client that has been cut off.
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
    // Whatever the page: a client that does not read it holds a connection, and gives it back.
    void clock.sleep(scrapeTimeoutMs(request), ended.signal).then(() => response.destroy());
    response.once('close', () => {
      ended.abort();
      // A connection busy when the server closed stays open for the next request otherwise, which never comes.
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
      if (admission.state === 'let in') this.#connections.letIn(request.socket);
      // Strangers hold no connections: there are only so many.
      else response.setHeader('connection', 'close');
      if (admission.state === 'refused') {
        for (const [name, value] of Object.entries(admission.refusal.headers)) response.setHeader(name, value);
        sendText(response, admission.refusal.status, admission.refusal.text);
        return;
      }
    }
    const page = async (document: () => Promise<Document>) => {
      if (this.#pages.begin(response)) await sendDocument(request, response, await document(), this.#settings.log);
      else sendBusy(response, 'too many pages at once\n');
    };
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
      sendText(response, 404, 'not found; / has links to what there is\n');
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
    try {
      response.setHeader('content-type', CONTENT_TYPES[format]);
      response.setHeader('vary', 'Accept, Accept-Encoding');
      if (coding !== undefined) response.setHeader('content-encoding', coding);
      response.setHeader('content-length', body.length);
      if (request.method === 'HEAD') response.end();
      else await this.#send(body, response);
    } finally {
      body.release();
    }
  }

  async #send(body: Body, response: ServerResponse): Promise<void> {
    try {
      await send(response, body.buffers());
    } catch (err) {
      // The scraper went away or was too slow: its matter, and everything that it held is free now.
      this.#settings.log.debug({ err }, 'a scrape was not read to its end');
    }
  }
}

function pathOf(request: IncomingMessage): string {
  return (request.url ?? '/').split('?', 1)[0] ?? '/';
}

/** Reads a body to nowhere, and no more of it than anybody could send by mistake. */
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

/** How long the scraper itself waits, as Prometheus says in a header, in milliseconds; bounded. */
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
