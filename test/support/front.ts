import { once } from 'node:events';
import { Agent, createServer, request as httpRequest, type IncomingMessage, type ServerResponse } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import { type AddressInfo, type Server as BareServer, createServer as createBareServer, type Socket } from 'node:net';
import type { SecureContextOptions } from 'node:tls';
import { routeOf } from '../../src/demo/routes.ts';
import { DeafPort } from './deaf-port.ts';

/** A whole answer of the service behind the front. */
export interface WholeAnswer {
  readonly status: number;
  readonly headers: IncomingMessage['headers'];
  readonly body: Buffer;
}

/** One request at the front, and what can be done about it. */
export interface Exchange {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly socket: Socket;
  /** What the service itself answers. */
  ask(): Promise<WholeAnswer>;
}

/** What is done in the place of passing a request on. */
export type Spoil = (exchange: Exchange, front: Front) => unknown;

/** A request that came. */
export interface Seen {
  readonly operation: string;
  readonly serial: string | undefined;
  /** The token that it came with. */
  readonly bearer: string | undefined;
  /** By `performance.now()`. */
  readonly at: number;
  readonly spoiled: boolean;
}

/** What becomes of each answer of the service before anybody else sees it. */
export type Amend = (operation: string, answer: WholeAnswer) => WholeAnswer;

/** How a front stops being there; back it comes with `restore`. */
export type Absence =
  /** Nobody listens. */
  | { readonly kind: 'refuses' }
  /** Somebody listens who does not speak TLS, nor HTTP. */
  | { readonly kind: 'babbles' }
  /** Somebody takes connections and says nothing on them, so that no handshake ends. */
  | { readonly kind: 'mute' }
  /** Connections are neither taken nor refused. */
  | { readonly kind: 'deaf' }
  /** TLS with another certificate. */
  | { readonly kind: 'certificate'; readonly certificate: SecureContextOptions };

/** A server before a service that passes everything on, but for what it is told to spoil: bytes and sockets at will. */
export class Front {
  readonly seen: Seen[] = [];
  readonly #target: URL;
  readonly #agent = new Agent({ keepAlive: true });
  readonly #certificate: SecureContextOptions | undefined;
  readonly #amend: Amend;
  readonly #sockets = new Set<Socket>();
  readonly #spoils = new Set<{ readonly fits: (seen: Omit<Seen, 'spoiled'>) => boolean; readonly spoil: Spoil }>();
  #server: BareServer;
  #deaf: DeafPort | undefined;
  #port = 0;

  /** `target`: where requests are passed on to. With a certificate the front speaks TLS. */
  constructor(target: string, certificate?: SecureContextOptions, amend: Amend = (_, answer) => answer) {
    this.#target = new URL(target);
    this.#certificate = certificate;
    this.#amend = amend;
    this.#server = this.#whole(certificate);
  }

  get port(): number {
    return this.#port;
  }

  /** Listens, on the port that it had before if there was one. */
  listen(): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#server.once('error', reject).listen(this.#port, '127.0.0.1', () => {
        this.#port = (this.#server.address() as AddressInfo).port;
        resolve();
      });
    });
  }

  /** Spoils the requests that fit; what it returns ends that. */
  spoil(fits: (seen: Omit<Seen, 'spoiled'>) => boolean, spoil: Spoil): () => void {
    const entry = { fits, spoil };
    this.#spoils.add(entry);
    return () => {
      this.#spoils.delete(entry);
    };
  }

  /** Is not there any more. Connections end once nobody who comes back at once finds it half gone. */
  async vanish(absence: Absence): Promise<void> {
    const gone = once(this.#server, 'close');
    this.#server.close();
    if (absence.kind === 'deaf') this.#deaf = await DeafPort.open(this.#port);
    else if (absence.kind !== 'refuses') {
      const say = (socket: Socket) => absence.kind === 'babbles' && socket.end('220 mail.test ESMTP\r\n');
      this.#server =
        absence.kind === 'certificate' ? this.#whole(absence.certificate) : this.#tracked(createBareServer(say));
      await this.listen();
    }
    this.hangUp();
    await gone;
  }

  /** Is there as in the beginning. */
  async restore(): Promise<void> {
    await this.close();
    this.#server = this.#whole(this.#certificate);
    await this.listen();
  }

  /** Ends every connection. */
  hangUp(): void {
    for (const socket of this.#sockets) socket.destroy();
  }

  /** Ends everything, at once. */
  async close(): Promise<void> {
    await this.#deaf?.close();
    this.#deaf = undefined;
    await new Promise<void>((resolve) => {
      this.#server.close(() => resolve());
      this.hangUp();
    });
  }

  #whole(certificate: SecureContextOptions | undefined): BareServer {
    const serve = (request: IncomingMessage, response: ServerResponse) => void this.#serve(request, response);
    const server = certificate === undefined ? createServer(serve) : createTlsServer(certificate, serve);
    server.keepAliveTimeout = 120_000;
    return this.#tracked(server);
  }

  /** Knows the connections of a server, to end them. */
  #tracked(server: BareServer): BareServer {
    return server.on('connection', (socket: Socket) => {
      this.#sockets.add(socket);
      socket.on('error', () => {}).once('close', () => this.#sockets.delete(socket));
    });
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    response.on('error', () => {});
    const { socket } = request;
    const { operation, serial } = routeOf(request.method ?? '', new URL(request.url ?? '/', this.#target).pathname);
    const bearer = /^Bearer (.*)$/.exec(request.headers.authorization ?? '')?.[1];
    const came = { operation, serial, bearer, at: performance.now() };
    const chunks: Buffer[] = [];
    try {
      for await (const chunk of request as AsyncIterable<Buffer>) chunks.push(chunk);
      const body = Buffer.concat(chunks);
      const found = [...this.#spoils].find(({ fits }) => fits(came));
      this.seen.push({ ...came, spoiled: found !== undefined });
      const ask = async () => this.#amend(operation, await this.#ask(request, body));
      if (found === undefined) send(response, await ask());
      else await found.spoil({ request, response, socket, ask }, this);
    } catch {
      socket.destroy();
    }
  }

  #ask({ method, url, headers }: IncomingMessage, body: Buffer): Promise<WholeAnswer> {
    return new Promise((resolve, reject) => {
      const { hostname, port } = this.#target;
      httpRequest({ hostname, port, path: url, method, headers, agent: this.#agent }, async (answer) => {
        const chunks: Buffer[] = [];
        for await (const chunk of answer as AsyncIterable<Buffer>) chunks.push(chunk);
        resolve({ status: answer.statusCode ?? 0, headers: answer.headers, body: Buffer.concat(chunks) });
      })
        .once('error', reject)
        .end(body);
    });
  }
}

/** Writes an answer as it is. */
export function send(response: ServerResponse, { status, headers, body }: WholeAnswer): void {
  response.writeHead(status, { ...headers, connection: 'keep-alive' }).end(body);
}
