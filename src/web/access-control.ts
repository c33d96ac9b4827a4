import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import { type Server, TLSSocket } from 'node:tls';
import type { AccessControl, AccessDecision, Rejection } from '../http/access-control.ts';
import type { Clock } from '../runtime/clock.ts';
import { errorCode } from '../runtime/errors.ts';
import type { Log } from '../runtime/log.ts';
import type { PasswordCheck, PasswordChecker } from './password-checker.ts';
import { clientCertificateError, type TlsSettings, tlsServer } from './tls.ts';
import { TokenBucket } from './token-bucket.ts';
import type { WebRules } from './web-config.ts';

export interface UnauthenticatedPaths {
  /**
   * These paths need no password and do not count for the rate limit, so that too many requests cannot make a probe
   * fail.
   */
  readonly paths: ReadonlySet<string>;
  /** Whether these paths need no client certificate either; the handshake then succeeds without one. */
  readonly withoutCertificate: boolean;
}

/** The rules in effect with their state. */
interface ActiveRules {
  readonly rules: WebRules;
  /** Undefined serves plain HTTP. */
  readonly server: Server | undefined;
  readonly bucket: TokenBucket | undefined;
}

interface WebDependencies {
  readonly passwords: PasswordChecker;
  readonly unauthenticated: UnauthenticatedPaths;
  readonly clock: Clock;
  readonly log: Log;
}

/** Checks TLS, rate limit and passwords before the pages, by rules that may change at any time. */
export class WebAccessControl implements AccessControl {
  readonly #dependencies: WebDependencies;
  /** Handshakes by the addresses of both ends, which the TLS socket has in common with the socket below it. */
  readonly #handshakes = new Map<string, (secured: Socket) => void>();
  #active: ActiveRules;

  constructor(rules: WebRules, dependencies: WebDependencies) {
    this.#dependencies = dependencies;
    this.#active = this.#activate(rules);
  }

  get headers(): Readonly<Record<string, string>> {
    return this.#active.rules.headers;
  }

  get isSecure(): boolean {
    return this.#active.server !== undefined;
  }

  /** Applies rules to each connection that `secure` gets from now on, and to each request. */
  adopt(rules: WebRules): void {
    this.#active = this.#activate(rules);
  }

  secure(accepted: Socket, ready: (secured: Socket) => void): void {
    const { server } = this.#active;
    if (server === undefined) {
      ready(accepted);
      return;
    }
    const ends = endsOf(accepted);
    this.#handshakes.set(ends, ready);
    accepted.once('close', () => this.#handshakes.delete(ends));
    server.emit('connection', accepted);
  }

  decide(request: IncomingMessage, path: string, secured: Socket): Promise<AccessDecision> | AccessDecision {
    const { rules, bucket } = this.#active;
    const { unauthenticated } = this.#dependencies;
    const isUnauthenticated = unauthenticated.paths.has(path);
    if (rules.tls !== undefined && !(isUnauthenticated && unauthenticated.withoutCertificate)) {
      const error =
        secured instanceof TLSSocket ? clientCertificateError(rules.tls, secured) : 'the connection is not encrypted';
      if (error !== undefined) return { status: 403, headers: {}, text: `${error}\n` };
    }
    if (isUnauthenticated) return 'allowed';
    // The rate limit comes before passwords, as in the toolkit, so that it limits guesses.
    if (bucket !== undefined && !bucket.take()) return TOO_MANY;
    if (rules.users.size === 0) return 'allowed';
    const credentials = basicCredentials(request.headers.authorization);
    if (credentials === undefined) return UNAUTHORIZED;
    return this.#checkPassword(rules.users, { ...credentials, address: secured.remoteAddress ?? '' });
  }

  async #checkPassword(hashes: ReadonlyMap<string, string>, check: PasswordCheck): Promise<AccessDecision> {
    try {
      const result = await this.#dependencies.passwords.check(hashes, check);
      if (result === 'right') return 'allowed';
      return result === 'wrong' ? UNAUTHORIZED : BUSY;
    } catch (err) {
      this.#dependencies.log.error({ err }, 'internal error while checking a password; please report');
      return BUSY;
    }
  }

  #activate(rules: WebRules): ActiveRules {
    const bucket = rules.rate && new TokenBucket(rules.rate, this.#dependencies.clock);
    return { rules, server: rules.tls && this.#createServer(rules.tls), bucket };
  }

  #createServer(settings: TlsSettings): Server {
    const { options, client } = settings;
    const { unauthenticated, log } = this.#dependencies;
    // A client is rejected in the handshake if possible, because it then sees the reason. What OpenSSL does not check, such
    // as the allowed names, is checked after the handshake.
    const rejectUnauthorized = client.required && client.verified && !unauthenticated.withoutCertificate;
    const server = tlsServer({ ...options, rejectUnauthorized });
    server.on('secureConnection', (secured: TLSSocket) => {
      const ready = this.#handshakes.get(endsOf(secured));
      // If some path needs no certificate, `decide` checks the certificate of each request.
      const error = unauthenticated.withoutCertificate ? undefined : clientCertificateError(settings, secured);
      if (error === undefined && ready !== undefined) {
        ready(secured);
        return;
      }
      log.debug({ reason: error }, 'connection rejected');
      secured.destroy();
    });
    server.on('tlsClientError', (err, secured) => {
      log.debug({ reason: errorCode(err) ?? err.message }, 'TLS handshake failed');
      secured.destroy();
    });
    return server;
  }
}

function endsOf({ localAddress, remoteAddress, remotePort }: Socket): string {
  return `${localAddress} ${remoteAddress} ${remotePort}`;
}

const UNAUTHORIZED: Rejection = {
  status: 401,
  headers: { 'www-authenticate': 'Basic realm="filer-exporter", charset="UTF-8"' },
  text: 'expected a user name and password (basic_auth_users)\n',
};

const TOO_MANY: Rejection = { status: 429, headers: {}, text: 'too many requests (rate_limit)\n' };

const BUSY: Rejection = {
  status: 503,
  headers: { 'retry-after': '1' },
  text: 'too many passwords to check at once\n',
};

/** Longer credentials are rejected unchecked: bcrypt reads only 72 bytes. */
const MAX_CREDENTIALS = 4096;

function basicCredentials(header: string | undefined) {
  const [, encoded] = /^basic +([\w+/]+={0,2})\s*$/i.exec(header ?? '') ?? [];
  if (encoded === undefined || encoded.length > MAX_CREDENTIALS) return undefined;
  const text = Buffer.from(encoded, 'base64').toString('utf8');
  const colon = text.indexOf(':');
  return colon < 0 ? undefined : { user: text.slice(0, colon), password: text.slice(colon + 1) };
}
