import type { Clock } from '../../runtime/clock.ts';
import { asError, CredentialError, RequestError, SchemaError } from '../../runtime/errors.ts';
import { meaningOf } from '../../runtime/failures.ts';
import { exponentialDelayMs } from '../../runtime/random.ts';
import type { PortalClient } from './client.ts';
import {
  type Credentials,
  lifetimeOf,
  type ReceivedToken,
  refreshRequest,
  revokeRequest,
  tokenRequest,
} from './token-requests.ts';

interface Token {
  readonly access: string;
  /** Undefined without one, and after it was sent: a service may revoke all tokens if a refresh token arrives twice. */
  readonly refresh: string | undefined;
  /** Monotonic milliseconds. */
  readonly renewAt: number;
  readonly expiresAt: number;
}

const MAX_LIFETIME_SECONDS = 86_400;

/** A token is renewed two minutes before its expiry, or after four fifths of its lifetime if that is later. */
const MARGIN = { maxSeconds: 120, share: 0.2 } as const;

/** The shortest time between two replacements after a 401, because some requests may be rejected with every token. */
const REPLACEMENT_INTERVAL_MS = 60_000;

/** The time until a failed renewal is repeated, while the token is still valid. */
const RENEWAL_RETRY_MS = 10_000;

/** The doubling pauses after a failed authentication: after rejected credentials, and while the token service fails. */
const PAUSES = {
  rejected: { firstMs: 5_000, maxMs: 300_000 },
  troubled: { firstMs: 1_000, maxMs: 30_000 },
} as const;

/**
 * The access token of one account. It is renewed with the refresh token, or with the credentials if that fails, by one
 * request however many requests wait for the token.
 */
export class TokenSource {
  readonly #client: PortalClient;
  readonly #credentials: Credentials;
  readonly #clock: Clock;
  #token: Token | undefined;
  #renewal: Promise<Token> | undefined;
  #replacedAt = Number.NEGATIVE_INFINITY;
  #failures = 0;
  #lastError: CredentialError | undefined;

  constructor(client: PortalClient, credentials: Credentials, clock: Clock) {
    this.#client = client;
    this.#credentials = credentials;
    this.#clock = clock;
  }

  get remainingSeconds(): number | undefined {
    return this.#token === undefined ? undefined : (this.#token.expiresAt - this.#clock.monotonic()) / 1000;
  }

  get cachedToken(): string | undefined {
    return this.#valid?.access;
  }

  get #valid(): Token | undefined {
    return this.#token !== undefined && this.#clock.monotonic() < this.#token.expiresAt ? this.#token : undefined;
  }

  /** Returns the valid token while its successor is requested. Rejects with a CredentialError, whose `pausedUntil` is when credentials are sent again. */
  async get(signal: AbortSignal): Promise<string> {
    const token = this.#valid;
    if (token !== undefined && this.#clock.monotonic() < token.renewAt) return token.access;
    const renewal = this.#startRenewal(signal);
    if (token === undefined) return (await renewal).access;
    // The error is stored, and is thrown once there is no valid token.
    renewal.catch(() => {});
    return token.access;
  }

  /**
   * Signs in although the token is valid, because rights belong to the sign-in and refreshing keeps them. Resolves also
   * if that fails; the present token then stays in use.
   */
  async signInAgain(signal: AbortSignal): Promise<void> {
    await this.#renewal?.catch(() => {});
    const token = this.#valid;
    if (token === undefined) return;
    this.#token = { ...token, refresh: undefined };
    await this.#startRenewal(signal).catch(() => {});
  }

  /** Invalidates a token after a 401. Returns whether to send the request again; false within a minute of the last replacement. */
  invalidate(access: string): boolean {
    if (this.#token?.access !== access) return true;
    const now = this.#clock.monotonic();
    if (now - this.#replacedAt < REPLACEMENT_INTERVAL_MS) return false;
    this.#replacedAt = now;
    this.#token = undefined;
    return true;
  }

  /** Refreshes the token. If the service rejects that, the promise rejects and the present token stays in use. */
  async refresh(signal: AbortSignal): Promise<void> {
    const token = this.#token;
    if (token?.refresh === undefined)
      throw new SchemaError('refreshing the token: the portal issued no refresh token; the exporter signs in instead');
    this.#token = { ...token, refresh: undefined };
    const request = refreshRequest(token.access, token.refresh);
    this.#token = this.#toToken(await this.#client.send(request, signal));
  }

  /** Revokes the token and its family. Never rejects: a token that cannot be revoked expires on its own. */
  async revoke(signal: AbortSignal): Promise<void> {
    await this.#renewal?.catch(() => {});
    const token = this.#token;
    this.#token = undefined;
    if (token !== undefined) await this.#client.send(revokeRequest(token.access), signal).catch(() => {});
  }

  #startRenewal(signal: AbortSignal): Promise<Token> {
    this.#renewal ??= this.#renew(signal).finally(() => {
      this.#renewal = undefined;
    });
    return this.#renewal;
  }

  async #renew(signal: AbortSignal): Promise<Token> {
    const lastError = this.#lastError;
    if (lastError?.pausedUntil !== undefined && this.#clock.monotonic() < lastError.pausedUntil) throw lastError;
    try {
      const token = (await this.#tryRefresh(signal)) ?? (await this.#signIn(signal));
      this.#token = token;
      this.#failures = 0;
      this.#lastError = undefined;
      return token;
    } catch (thrown) {
      const error = asError(thrown);
      // A 401 may have invalidated the token meanwhile.
      const validToken = this.#valid;
      if (validToken === undefined || areRejected(error)) throw this.#fail(error);
      // The token service fails, not the credentials, so the present token stays in use until it expires.
      const retryAt = this.#clock.monotonic() + RENEWAL_RETRY_MS;
      this.#token = { ...validToken, renewAt: Math.min(retryAt, validToken.expiresAt) };
      return this.#token;
    }
  }

  #fail(cause: Error): Error {
    if (cause instanceof RequestError && cause.reason === 'aborted') return cause;
    const rejected = areRejected(cause);
    this.#failures += 1;
    // Every poll needs a token, so without a pause each would send a request that fails.
    const pauseMs = exponentialDelayMs(rejected ? PAUSES.rejected : PAUSES.troubled, this.#failures, () => 1);
    const pausedUntil = this.#clock.monotonic() + pauseMs;
    this.#token = undefined;
    this.#lastError = new CredentialError(`getting a token from the portal: ${cause.message}`, { cause, pausedUntil });
    return this.#lastError;
  }

  /** The refreshed token; undefined if the exporter has to sign in, because a refresh token that failed may be used up. */
  async #tryRefresh(signal: AbortSignal): Promise<Token | undefined> {
    if (this.#token?.refresh === undefined) return undefined;
    return await this.refresh(signal).then(
      () => this.#token,
      () => undefined,
    );
  }

  /** Requests a token with the credentials. A family that it replaces expires on its own. */
  async #signIn(signal: AbortSignal): Promise<Token> {
    const credentials = this.#credentials;
    await credentials.key.reload();
    if (credentials.kind !== 'user_key') await credentials.secret.reload();
    return this.#toToken(await this.#client.send(tokenRequest(credentials), signal));
  }

  #toToken(received: ReceivedToken): Token {
    const lifetime = Math.min(lifetimeOf(received, this.#client.serviceClock.now()), MAX_LIFETIME_SECONDS);
    const now = this.#clock.monotonic();
    const margin = Math.min(MARGIN.maxSeconds, lifetime * MARGIN.share);
    const expiresAt = now + lifetime * 1000;
    const { access, refresh } = received;
    return { access, refresh, renewAt: expiresAt - margin * 1000, expiresAt };
  }
}

/** Whether the service rejected the credentials; any other error is a failure of the service. */
function areRejected(error: Error): boolean {
  return meaningOf(error).action === 'pause';
}
