import { parseDecimal } from '../../metrics/units.ts';
import { type Clock, callAfter } from '../../runtime/clock.ts';
import { asError, CredentialError, RequestError, SchemaError } from '../../runtime/errors.ts';
import { meaningOf } from '../../runtime/failures.ts';
import { exponentialDelayMs } from '../../runtime/random.ts';
import type { Secret } from '../../runtime/secret.ts';
import type { JsonClient, ServiceRequest } from '../../transport/json-client.ts';
import { objectOrEmpty } from './records.ts';

export type Credentials =
  | { readonly kind: 'oauth2' | 'service_key'; readonly key: Secret; readonly secret: Secret }
  | { readonly kind: 'user_key'; readonly key: Secret };

interface Token {
  readonly access: string;
  /** Undefined without one, and after it was sent: a service may revoke all tokens if a refresh token arrives twice. */
  readonly refresh: string | undefined;
  /** When the credentials were sent. A token and those that refreshing makes of it are a family. Monotonic milliseconds. */
  readonly signedInAt: number;
  /** Monotonic milliseconds. */
  readonly renewAt: number;
  readonly expiresAt: number;
}

/** The lifetime that is assumed if neither `expires_in` nor the token itself reports one. */
const ASSUMED_LIFETIME_SECONDS = 300;
const MAX_LIFETIME_SECONDS = 86_400;

/** A token is renewed two minutes before its expiry, or after four fifths of its lifetime if that is later. */
const MARGIN = { maxSeconds: 120, share: 0.2 } as const;

/** The shortest time between two replacements after a 401, because some requests may be rejected with every token. */
const REPLACEMENT_INTERVAL_MS = 60_000;

/** After this time the exporter signs in instead of refreshing: only signing in shows that the credentials have changed. */
const MAX_FAMILY_MS = 86_400_000;

/** A replaced family is revoked this long before the token expires with which it is revoked. */
const REVOKED_EARLIER_MS = 5_000;

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
  readonly #client: JsonClient;
  readonly #credentials: Credentials;
  readonly #clock: Clock;
  #token: Token | undefined;
  /** A token of the family that signing in replaced. It is revoked by a timer, after the last request with it; `cancel` stops the timer. */
  #retired: { readonly access: string; readonly cancel: () => void } | undefined;
  #renewal: Promise<Token> | undefined;
  #replacedAt = Number.NEGATIVE_INFINITY;
  #failures = 0;
  #lastError: CredentialError | undefined;

  constructor(client: JsonClient, credentials: Credentials, clock: Clock) {
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
    this.#token = this.#toToken(await this.#client.send(request, signal), token.signedInAt);
  }

  /** Revokes all families. Never rejects: a token that cannot be revoked expires on its own. */
  async revoke(signal: AbortSignal): Promise<void> {
    await this.#renewal?.catch(() => {});
    const token = this.#token;
    this.#token = undefined;
    await this.#revokeRetired(signal);
    if (token !== undefined) await this.#revoke(token.access, signal);
  }

  #startRenewal(signal: AbortSignal): Promise<Token> {
    this.#renewal ??= this.#renew(signal).finally(() => {
      this.#renewal = undefined;
    });
    return this.#renewal;
  }

  async #revokeRetired(signal: AbortSignal): Promise<void> {
    const retired = this.#retired;
    this.#retired = undefined;
    retired?.cancel();
    if (retired !== undefined) await this.#revoke(retired.access, signal);
  }

  async #revoke(access: string, signal: AbortSignal): Promise<void> {
    await this.#client.send(revokeRequest(access), signal).catch(() => {});
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

  /** The refreshed token; undefined if the exporter has to sign in. Rejects if the service fails while the present token is valid. */
  async #tryRefresh(signal: AbortSignal): Promise<Token | undefined> {
    const token = this.#token;
    if (token?.refresh === undefined) return undefined;
    if (this.#clock.monotonic() - token.signedInAt >= MAX_FAMILY_MS) return undefined;
    try {
      await this.refresh(signal);
      return this.#token;
    } catch (error) {
      // The service may have used up the refresh token, so the next renewal signs in. Until then the present token serves.
      if (isOutcomeUnknown(error) && this.#valid !== undefined) throw error;
      return undefined;
    }
  }

  /** Requests a token with the credentials, and schedules that the replaced family is revoked. */
  async #signIn(signal: AbortSignal): Promise<Token> {
    const token = await this.#authenticate(signal);
    const replaced = this.#valid;
    // A service may return the token that is in use.
    if (replaced !== undefined && replaced.access !== token.access) {
      void this.#revokeRetired(signal);
      // An expired token cannot revoke its family.
      const revokeInMs = replaced.expiresAt - this.#clock.monotonic() - REVOKED_EARLIER_MS;
      const cancel = callAfter(this.#clock, Math.min(this.#client.timeoutMs, revokeInMs), () =>
        this.#revokeRetired(signal),
      );
      this.#retired = { access: replaced.access, cancel };
    }
    return token;
  }

  async #authenticate(signal: AbortSignal): Promise<Token> {
    const credentials = this.#credentials;
    await credentials.key.reload();
    if (credentials.kind !== 'user_key') await credentials.secret.reload();
    return this.#toToken(await this.#client.send(tokenRequest(credentials), signal));
  }

  #toToken(body: unknown, signedInAt = this.#clock.monotonic()): Token {
    const parsed = parseToken(body);
    const { seconds } = lifetimeOf(parsed, this.#client.now());
    const lifetime = Math.min(seconds, MAX_LIFETIME_SECONDS);
    const now = this.#clock.monotonic();
    const margin = Math.min(MARGIN.maxSeconds, lifetime * MARGIN.share);
    const expiresAt = now + lifetime * 1000;
    const { access, refresh } = parsed;
    return { access, refresh, signedInAt, renewAt: expiresAt - margin * 1000, expiresAt };
  }
}

/** Whether the service rejected the credentials; any other error is a failure of the service. */
function areRejected(error: Error): boolean {
  return meaningOf(error).action === 'pause';
}

/** Whether the service may have refreshed the token although the request failed. */
function isOutcomeUnknown(error: unknown): boolean {
  return ['network', 'timeout', 'throttled', 'server_error'].includes(meaningOf(error).reason);
}

/** The characters that a header allows. A token with another could never be sent, but would be kept until it expires. */
const SENDABLE = /^[\x21-\x7e]+$/;

export function parseToken(body: unknown) {
  const { access_token: access, refresh_token: refresh, expires_in: expiresIn } = objectOrEmpty(body);
  if (typeof access !== 'string' || !SENDABLE.test(access)) {
    throw new SchemaError('reading the portal’s token: expected an object with access_token in printable ASCII');
  }
  return { access, refresh: typeof refresh === 'string' && refresh !== '' ? refresh : undefined, expiresIn };
}

const TOKEN_REQUEST = {
  method: 'POST',
  operation: 'token',
  purpose: 'token',
  priority: true,
  validate: parseToken,
} as const;

export function tokenRequest(credentials: Credentials): ServiceRequest {
  const request = { ...TOKEN_REQUEST, path: '/auth/token' };
  switch (credentials.kind) {
    case 'oauth2':
      return {
        ...request,
        form: {
          grant_type: 'client_credentials',
          client_id: credentials.key.reveal(),
          client_secret: credentials.secret.reveal(),
        },
      };
    case 'service_key':
      return {
        ...request,
        headers: { 'x-service-key': credentials.key.reveal(), 'x-service-secret': credentials.secret.reveal() },
        json: {},
      };
    case 'user_key':
      return { ...request, headers: { 'x-user-key': credentials.key.reveal() }, json: {} };
  }
}

function refreshRequest(access: string, refresh: string): ServiceRequest {
  const headers = { authorization: `Bearer ${access}` };
  // A service may revoke all tokens if a refresh token arrives twice.
  return { ...TOKEN_REQUEST, path: '/auth/token/refresh', headers, json: { token: refresh }, onlyOnce: true };
}

export function revokeRequest(access: string): ServiceRequest {
  const headers = { authorization: `Bearer ${access}` };
  return { method: 'DELETE', path: '/auth/token', operation: 'token', headers, priority: true };
}

/** A token's lifetime in seconds, which may be infinite, and the field that reports it. `now`: epoch milliseconds. */
export function lifetimeOf(
  { access, expiresIn }: Pick<ReturnType<typeof parseToken>, 'access' | 'expiresIn'>,
  now: number,
) {
  const reportedSeconds = parseDecimal(expiresIn) ?? 0;
  if (reportedSeconds > 0) return { seconds: reportedSeconds, source: 'expires_in' } as const;
  const claims = jwtClaims(access);
  const seconds = (parseDecimal(claims.exp) ?? Number.NaN) - (parseDecimal(claims.iat) ?? now / 1000);
  if (seconds > 0) return { seconds, source: 'jwt' } as const;
  return { seconds: ASSUMED_LIFETIME_SECONDS, source: 'nothing' } as const;
}

/** The claims of a JWT, which are not verified; empty for another token. */
function jwtClaims(token: string): Readonly<Record<string, unknown>> {
  try {
    return objectOrEmpty(JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString('utf8')));
  } catch {
    return {};
  }
}
