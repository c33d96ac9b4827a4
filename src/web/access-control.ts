import type { IncomingMessage } from 'node:http';
import { TLSSocket } from 'node:tls';
import type { Clock } from '../runtime/clock.ts';
import type { Credentials, PasswordChecker } from './passwords.ts';
import { clientCertificateError } from './tls.ts';
import type { ClientRateLimit, WebRules } from './web-config.ts';

/** The response to a client that may not read a page. */
interface Rejection {
  readonly status: 401 | 403 | 429 | 503;
  readonly headers?: Readonly<Record<string, string>>;
  readonly text: string;
}

/** Decides who may read the pages, by rules that may change at any time. */
export class AccessControl {
  readonly #passwords: PasswordChecker;
  readonly #clock: Clock;
  #rules: WebRules;
  /** Takes a token of the rate limit; returns false if there is none. Undefined without a limit. */
  #takeToken: (() => boolean) | undefined;

  constructor(rules: WebRules, passwords: PasswordChecker, clock: Clock) {
    this.#passwords = passwords;
    this.#clock = clock;
    this.#rules = rules;
    this.adopt(rules);
  }

  get rules(): WebRules {
    return this.#rules;
  }

  adopt(rules: WebRules): void {
    this.#rules = rules;
    this.#takeToken = rules.rateLimit && tokenBucket(rules.rateLimit, this.#clock);
  }

  /**
   * Returns why a request is rejected; undefined if it is admitted. `isOpen`: the path needs no password, and does not count
   * for the rate limit, so that too many requests cannot make a probe fail. Rejects if no thread for the password can be started.
   */
  async check(request: IncomingMessage, isOpen: boolean): Promise<Rejection | undefined> {
    const { tls, users } = this.#rules;
    if (tls !== undefined && request.socket instanceof TLSSocket) {
      const error = clientCertificateError(tls, request.socket);
      if (error !== undefined) return { status: 403, text: `${error}\n` };
    }
    if (isOpen) return undefined;
    // The rate limit comes before passwords, as in the toolkit, so that it limits guesses.
    if (this.#takeToken?.() === false) return TOO_MANY;
    if (users.size === 0) return undefined;
    const credentials = basicCredentials(request);
    if (credentials === undefined) return UNAUTHORIZED;
    const result = await this.#passwords.check(users, credentials);
    if (result === 'right') return undefined;
    return result === 'wrong' ? UNAUTHORIZED : BUSY;
  }
}

/** Returns a function that admits requests. The bucket is full at first, and gains a token each interval, up to the burst. */
function tokenBucket({ intervalMs, burst }: ClientRateLimit, clock: Clock): () => boolean {
  let fullAt = Number.NEGATIVE_INFINITY;
  return () => {
    const now = clock.monotonic();
    const msUntilFull = Math.max(0, fullAt - now) + intervalMs;
    if (msUntilFull > burst * intervalMs) return false;
    fullAt = now + msUntilFull;
    return true;
  };
}

const UNAUTHORIZED: Rejection = {
  status: 401,
  headers: { 'www-authenticate': 'Basic realm="filer-exporter", charset="UTF-8"' },
  text: 'expected a user name and password (basic_auth_users)\n',
};

const TOO_MANY: Rejection = { status: 429, text: 'too many requests (rate_limit)\n' };

const BUSY: Rejection = {
  status: 503,
  headers: { 'retry-after': '1' },
  text: 'too many passwords to check at once\n',
};

function basicCredentials({ headers, socket }: IncomingMessage): Credentials | undefined {
  const [, encoded] = /^basic +([\w+/]+={0,2})\s*$/i.exec(headers.authorization ?? '') ?? [];
  if (encoded === undefined) return undefined;
  const text = Buffer.from(encoded, 'base64').toString('utf8');
  const colon = text.indexOf(':');
  if (colon < 0) return undefined;
  return { user: text.slice(0, colon), password: text.slice(colon + 1), address: socket.remoteAddress ?? '' };
}
