import { once } from 'node:events';
import { createServer, type Server as HttpServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { createServer as createHttpsServer, type Server as HttpsServer } from 'node:https';
import type { AddressInfo, Socket } from 'node:net';
import type { Format, ResponseBody } from '../exposition/format.ts';
import { type Clock, callAfter } from '../runtime/clock.ts';
import { errorCode } from '../runtime/errors.ts';
import type { Log } from '../runtime/log.ts';
import type { AccessControl } from './access-control.ts';
import { ActiveResponses } from './active-responses.ts';
import { type CloseReason, Connections, readInParts } from './connections.ts';
import { acceptsGzip, CONTENT_TYPES, chooseFormat } from './negotiate.ts';
import { type Page, sendBody, sendText, textBody } from './responses.ts';
import type { WebRules } from './web-config.ts';

/** What the server serves. */
export interface Pages {
  /** Returns the exposition at this moment. */
  exposition(format: Format, gzip: boolean): Promise<ResponseBody>;
  /** Whether the first polls have ended. */
  ready(): boolean;
  /** `query` is that of the request, without its `?`. */
  readonly statusPage: (query: string) => Page;
  readonly statusJson: () => Page;
  readonly landingPage: () => Page;
}

interface ServerOptions {
  /** If undefined, the server listens on all addresses, IPv4 and IPv6. */
  readonly host: string | undefined;
  /** 0 selects any free port. */
  readonly port: number;
  readonly metricsPath: string;
  /** TLS and who may read the pages; without it everyone may, over plain HTTP. */
  readonly access: AccessControl | undefined;
  readonly pages: Pages;
  readonly clock: Clock;
  readonly log: Log;
}

/** Scrapes, and other pages, that are sent at once; additional ones get 503. */
const MAX_SCRAPES = 40;
const MAX_PAGES = 16;

/** How long a client may take to read a response, in milliseconds; Prometheus closes the connection at its own time-out. */
const MAX_RESPONSE_MS = 120_000;

/** The limits of Node.js, in milliseconds. */
const LIMITS = {
  // A connection on which nothing is sent ends after the same time.
  headersTimeout: 10_000,
  requestTimeout: 10_000,
  connectionsCheckingInterval: 1_000,
  // Longer than usual scrape intervals: otherwise each scrape would need a new connection and a TLS handshake.
  keepAliveTimeout: 130_000,
} as const;

const HANDSHAKE_TIMEOUT_MS = 10_000;

interface Route {
  /** Needs no password. */
  readonly isOpen?: boolean;
  readonly respond: (response: ServerResponse, query: string) => Promise<unknown> | unknown;
}

/** Serves the exposition and the pages. No request waits for a service. */
export class WebServer {
  readonly #options: ServerOptions;
  readonly #server: HttpServer | HttpsServer;
  readonly #connections = new Connections();
  readonly #scrapes: ActiveResponses;
  readonly #otherPages: ActiveResponses;
  readonly #routes: ReadonlyMap<string, Route>;

  constructor(options: ServerOptions) {
    const { access, clock, metricsPath, pages } = options;
    this.#options = options;
    this.#scrapes = new ActiveResponses(MAX_SCRAPES, this.#connections, clock);
    this.#otherPages = new ActiveResponses(MAX_PAGES, this.#connections, clock);
    const health: Route = { isOpen: true, respond: (response) => sendText(response, 200, 'ok\n') };
    const readiness: Route = {
      isOpen: true,
      respond: (response) =>
        pages.ready()
          ? sendText(response, 200, 'ready\n')
          : sendText(response, 503, 'the first polls have not ended\n'),
    };
    this.#routes = new Map<string, Route>([
      ['/', this.#pageRoute(pages.landingPage)],
      ['/status', this.#pageRoute(pages.statusPage)],
      ['/api/v1/status', this.#pageRoute(pages.statusJson)],
      ['/healthz', health],
      ['/readyz', readiness],
      // The paths of the same pages in Prometheus.
      ['/-/healthy', health],
      ['/-/ready', readiness],
      [decoded(metricsPath), { respond: (response) => this.#sendMetrics(response) }],
    ]);
    this.#server = this.#createServer(access?.rules.tls);
  }

  /** Connections that the server closed, by reason. */
  get closed(): ReadonlyMap<CloseReason, number> {
    return this.#connections.closed;
  }

  /** Listens; resolves with the port. Rejects if the address is not available. */
  async listen(): Promise<number> {
    const { host, port, log } = this.#options;
    this.#server.listen({ port, ...(host === undefined ? {} : { host }) });
    await once(this.#server, 'listening');
    let isShort = false;
    // The event means that the machine is out of files or memory. Without a listener it would end the process.
    this.#server.on('error', (err) => {
      const advice = 'raise the limits of open files and memory';
      if (!isShort) log.error({ err, advice }, 'A connection could not be accepted.');
      isShort = true;
    });
    this.#server.on('connection', () => {
      isShort = false;
    });
    return (this.#server.address() as AddressInfo).port;
  }

  /** Applies changed rules to each request from now on, and to each handshake. They have TLS if the rules before had it. */
  adopt(rules: WebRules): void {
    this.#options.access?.adopt(rules);
    if (rules.tls !== undefined && 'setSecureContext' in this.#server) this.#server.setSecureContext(rules.tls.options);
    // Earlier handshakes were admitted by the rules before.
    this.#connections.retire();
  }

  /** Accepts no more connections; resolves when the requests in progress have ended, or `signal` cuts them off. */
  async close(signal: AbortSignal): Promise<void> {
    const closed = new Promise((resolve) => this.#server.close(resolve));
    this.#connections.retire();
    const cutOff = () => this.#server.closeAllConnections();
    signal.addEventListener('abort', cutOff);
    if (signal.aborted) cutOff();
    await closed;
  }

  #createServer(tls: WebRules['tls']): HttpServer | HttpsServer {
    const { log } = this.#options;
    const server =
      tls === undefined
        ? createServer(LIMITS)
        : createHttpsServer({ ...LIMITS, ...tls.options, handshakeTimeout: HANDSHAKE_TIMEOUT_MS });
    server.on('connection', (socket: Socket) => this.#connections.add(socket));
    server.on(tls === undefined ? 'connection' : 'secureConnection', readInParts);
    server.on('tlsClientError', (err: Error) => log.debug({ reason: errorCode(err) }, 'A TLS handshake failed.'));
    // A request with an `Expect` header gets its response like any other one.
    for (const event of ['request', 'checkContinue', 'checkExpectation']) {
      server.on(event, (_: IncomingMessage, response: ServerResponse) => this.#begin(response));
    }
    return server;
  }

  #begin(response: ServerResponse): void {
    const { clock, log } = this.#options;
    const { req: request } = response;
    if (request.socket.destroyed || !this.#connections.begin(response)) {
      request.socket.destroy();
      return;
    }
    // This limits every page, because a client that does not read it keeps a connection open.
    response.once(
      'close',
      callAfter(clock, MAX_RESPONSE_MS, () => response.destroy()),
    );
    this.#respond(response).catch((err: unknown) => {
      const advice = 'report this line to the maintainers of the exporter';
      log.error({ err, path: targetOf(request).path, advice }, 'A request failed by a defect.');
      if (!response.headersSent) sendText(response, 500, 'internal error\n');
      else response.destroy();
    });
  }

  async #respond(response: ServerResponse): Promise<void> {
    const { access } = this.#options;
    const { req: request } = response;
    const { path, query } = targetOf(request);
    const route = this.#routes.get(path);
    const headers = { ...COMMON_HEADERS, ...access?.rules.headers };
    for (const [name, value] of Object.entries(headers)) response.setHeader(name, value);
    const rejection = await access?.check(request, route?.isOpen === true);
    // The client may have left while its password was checked.
    if (response.destroyed) return;
    if (rejection !== undefined) sendText(response, rejection.status, rejection.text, rejection.headers);
    else if (route === undefined) sendText(response, 404, 'not found; / lists the pages\n');
    else if (request.method !== 'GET' && request.method !== 'HEAD')
      sendText(response, 405, 'only GET and HEAD\n', { allow: 'GET, HEAD' });
    else await route.respond(response, query);
  }

  #sendMetrics(response: ServerResponse): Promise<void> {
    const format = chooseFormat(response.req.headers.accept);
    return this.#send(response, this.#scrapes, async (isCompressed) => ({
      headers: { 'content-type': CONTENT_TYPES[format] },
      body: await this.#options.pages.exposition(format, isCompressed),
    }));
  }

  #pageRoute(read: (query: string) => Page): Route {
    const respond = (response: ServerResponse, query: string) =>
      this.#send(response, this.#otherPages, async (isCompressed) => {
        const { headers, text } = read(query);
        return { headers, body: await textBody(text, isCompressed) };
      });
    return { respond };
  }

  /** Sends a body as fast as the client reads it. Headers that the operator has set for every response are kept. */
  async #send(
    response: ServerResponse,
    places: ActiveResponses,
    produce: (isCompressed: boolean) => Promise<Content>,
  ): Promise<void> {
    const isCompressed = acceptsGzip(response.req.headers['accept-encoding']);
    const isSent = await places.run(response, async (onRead) => {
      const { headers, body } = await produce(isCompressed);
      const encoding = isCompressed ? { 'content-encoding': 'gzip' } : {};
      for (const [name, value] of Object.entries({ ...headers, ...encoding, 'content-length': body.length }))
        if (!response.hasHeader(name)) response.setHeader(name, value);
      if (response.req.method === 'HEAD') response.end();
      else await sendBody(response, body, this.#options.clock, onRead);
    });
    if (!isSent) sendText(response, 503, 'too many responses at once\n', { 'retry-after': '1' });
  }
}

/** The headers of all responses: they are not cached, and have only the declared type. */
const COMMON_HEADERS = {
  'cache-control': 'no-store',
  'referrer-policy': 'no-referrer',
  vary: 'Accept, Accept-Encoding',
  'x-content-type-options': 'nosniff',
} as const;

interface Content {
  readonly headers: Readonly<Record<string, string>>;
  readonly body: ResponseBody;
}

/** The path without percent-encoding, and the query. A target may also be a whole URL (RFC 9112, section 3.2.2). */
function targetOf({ url: target = '' }: IncomingMessage): { readonly path: string; readonly query: string } {
  const [origin = ''] = /^https?:\/\/[^/?]*/i.exec(target) ?? [];
  const [path = '', ...query] = target.slice(origin.length).split('?');
  return { path: decoded(path === '' ? '/' : path), query: query.join('?') };
}

function decoded(path: string): string {
  try {
    return decodeURIComponent(path);
  } catch {
    return path;
  }
}
