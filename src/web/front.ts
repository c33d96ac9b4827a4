import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import { type Server, TLSSocket } from 'node:tls';
import type { Admission, Front, Refusal } from '../http/front.ts';
import type { Clock } from '../runtime/clock.ts';
import { errorCode } from '../runtime/errors.ts';
import type { Log } from '../runtime/log.ts';
import type { Passwords } from './passwords.ts';
import { TokenBucket } from './rate-limit.ts';
import type { WebRules } from './rules.ts';
import { clientFault, type TlsSettings, tlsServer } from './tls.ts';

export interface OpenPaths {
  /** Served without a password, and outside the rate limit, so that too many requests cannot make a probe fail. */
  readonly paths: ReadonlySet<string>;
  /** Also without a client certificate: the handshake then succeeds without one. */
  readonly withoutCertificate: boolean;
}

/** The rules in effect with their state. */
interface Adopted {
  readonly rules: WebRules;
  /** Undefined serves plain HTTP. */
  readonly server: Server | undefined;
  readonly bucket: TokenBucket | undefined;
}

interface Outside {
  readonly clock: Clock;
  readonly log: Log;
}

/**
 * TLS, rate limit and basic auth before the pages, by rules that may change at any time; a change ends handshakes that
 * began before it.
 */
export class WebFront implements Front {
  readonly #parts: { readonly passwords: Passwords; readonly open: OpenPaths } & Outside;
  #ready: (secured: Socket) => void = (socket) => void socket.destroy();
  #changed: () => void = () => {};
  #adopted: Adopted;
  #generation = 0;

  constructor(rules: WebRules, passwords: Passwords, open: OpenPaths, { clock, log }: Outside) {
    this.#parts = { passwords, open, clock, log };
    this.#adopted = this.#adoptedOf(rules);
  }

  get generation(): number {
    return this.#generation;
  }

  get headers(): Readonly<Record<string, string>> {
    return this.#adopted.rules.headers;
  }

  get isSecure(): boolean {
    return this.#adopted.server !== undefined;
  }

  adopt(rules: WebRules): void {
    this.#adopted = this.#adoptedOf(rules);
    this.#generation += 1;
    this.#changed();
  }

  serve(ready: (secured: Socket) => void, changed: () => void): void {
    this.#ready = ready;
    this.#changed = changed;
  }

  accept(socket: Socket): void {
    const { server } = this.#adopted;
    if (server === undefined) this.#ready(socket);
    else server.emit('connection', socket);
  }

  admit(request: IncomingMessage, path: string): Promise<Admission> | Admission {
    const { rules, bucket } = this.#adopted;
    const { open } = this.#parts;
    const isOpen = open.paths.has(path);
    const { socket } = request;
    if (rules.tls !== undefined && !(isOpen && open.withoutCertificate)) {
      const fault = socket instanceof TLSSocket ? clientFault(rules.tls, socket) : 'the connection is not secured';
      if (fault !== undefined) return { status: 403, headers: {}, text: `${fault}\n` };
    }
    if (isOpen) return asksNothing(rules) ? 'let in' : 'open';
    // Before passwords, as in the toolkit, so that it limits guesses; after certificates, which the toolkit checks in
    // the handshake.
    if (bucket !== undefined && !bucket.take()) return TOO_MANY;
    if (rules.users.size === 0) return 'let in';
    const credentials = basicCredentials(request.headers.authorization);
    if (credentials === undefined) return UNAUTHORIZED;
    return this.#checked(rules.users, credentials.user, credentials.password, socket.remoteAddress ?? '');
  }

  async #checked(...question: Parameters<Passwords['check']>): Promise<Admission> {
    try {
      const verdict = await this.#parts.passwords.check(...question);
      if (verdict === 'right') return 'let in';
      return verdict === 'wrong' ? UNAUTHORIZED : BUSY;
    } catch (err) {
      this.#parts.log.error({ err }, 'internal error while checking a password; please report');
      return BUSY;
    }
  }

  #adoptedOf(rules: WebRules): Adopted {
    const bucket = rules.rate && new TokenBucket(rules.rate, this.#parts.clock);
    return { rules, server: rules.tls && this.#serverOf(rules.tls), bucket };
  }

  #serverOf(settings: TlsSettings): Server {
    const { options, client } = settings;
    // Rejected in the handshake if possible, so that clients see the reason. The rest is checked below.
    const rejectUnauthorized = client.required && client.verified && !this.#parts.open.withoutCertificate;
    const server = tlsServer({ ...options, rejectUnauthorized });
    server.on('secureConnection', (secured: TLSSocket) => this.#secured(settings, server, secured));
    server.on('tlsClientError', (err, secured) => {
      this.#parts.log.debug({ reason: errorCode(err) ?? err.message }, 'TLS handshake failed');
      secured.destroy();
    });
    return server;
  }

  #secured(settings: TlsSettings, server: Server, secured: TLSSocket): void {
    // Otherwise a client could stall a handshake until a certificate authority is removed, and be admitted by the old
    // rules.
    const isOld = server !== this.#adopted.server;
    // If some path needs no certificate, `admit` checks the certificate of each request.
    const fault = this.#parts.open.withoutCertificate ? undefined : clientFault(settings, secured);
    const reason = isOld ? 'the rules changed during the handshake' : fault;
    if (reason === undefined) {
      this.#ready(secured);
      return;
    }
    this.#parts.log.debug({ reason }, 'connection rejected');
    secured.destroy();
  }
}

/** Whether these rules admit every request. */
function asksNothing({ users, tls, rate }: WebRules): boolean {
  return users.size === 0 && tls?.client.asked !== true && rate === undefined;
}

const UNAUTHORIZED: Refusal = {
  status: 401,
  headers: { 'www-authenticate': 'Basic realm="filer-exporter", charset="UTF-8"' },
  text: 'expected a user name and password (basic_auth_users)\n',
};

const TOO_MANY: Refusal = { status: 429, headers: {}, text: 'too many requests (rate_limit)\n' };

const BUSY: Refusal = { status: 503, headers: { 'retry-after': '1' }, text: 'too many passwords to check at once\n' };

/** A longer password is wrong: bcrypt reads 72 bytes. */
const MAX_CREDENTIALS = 4096;

function basicCredentials(header: string | undefined) {
  const [, encoded] = /^basic +([\w+/]+={0,2})\s*$/i.exec(header ?? '') ?? [];
  if (encoded === undefined || encoded.length > MAX_CREDENTIALS) return undefined;
  const text = Buffer.from(encoded, 'base64').toString('utf8');
  const colon = text.indexOf(':');
  return colon < 0 ? undefined : { user: text.slice(0, colon), password: text.slice(colon + 1) };
}
