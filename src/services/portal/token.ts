import { parseDecimal } from '../../metrics/units.ts';
import { type Clock, callAfter } from '../../runtime/clock.ts';
import { policyForError } from '../../runtime/error-policy.ts';
import { asError, CredentialError, RequestError, SchemaError } from '../../runtime/errors.ts';
import { exponentialDelayMs } from '../../runtime/random.ts';
import type { Secret } from '../../runtime/secret.ts';
import type { JsonClient, ServiceRequest } from '../../transport/json-client.ts';
import { RetryBudget, withRetries } from '../../transport/retry.ts';
import { objectOrEmpty } from './records.ts';

export type Credentials =
  | { readonly kind: 'oauth2' | 'service_key'; readonly key: Secret; readonly secret: Secret }
  | { readonly kind: 'user_key'; readonly key: Secret };

interface Token {
  readonly access: string;
  /** Undefined if there is none, or once it was sent: a service may revoke everything if it arrives twice. */
  readonly refresh: string | undefined;
  /** When credentials were sent for its family: the tokens that refreshing makes of one. */
  readonly signedInAt: number;
  /** Monotonic milliseconds. */
  readonly renewAt: number;
  readonly expiresAt: number;
}

/** Assumed if neither `expires_in` nor the token itself has a lifetime, in seconds. */
const ASSUMED_LIFETIME_SECONDS = 300;
const MAX_LIFETIME_SECONDS = 86_400;

/** How long before its expiry a token is renewed: the smaller of two minutes and a fifth of its life, in seconds. */
const MARGIN = { maxSeconds: 120, share: 0.2 } as const;

/** Between two tokens after a 401, in milliseconds: some requests may be rejected with every token. */
const REPLACED_EVERY_MS = 60_000;

/** A family is replaced after so long, in milliseconds: only signing in shows that the credentials have changed. */
const MAX_FAMILY_MS = 86_400_000;

/** A family is revoked so long before the expiry of the token that revokes it, in milliseconds. */
const REVOKED_EARLIER_MS = 5_000;

/** After a failed renewal, while the token is still valid, in milliseconds. */
const RENEWAL_RETRY_MS = 10_000;

/** Pauses after a failed authentication, doubling: after rejected credentials, and while the token service fails. */
const PAUSES = {
  rejected: { firstMs: 5_000, longestMs: 300_000 },
  troubled: { firstMs: 1_000, longestMs: 30_000 },
} as const;

/**
 * The access token of one account, renewed by one request, however many requests wait for it: with the refresh token, and
 * with the credentials where that fails.
 */
export class TokenSource {
  readonly #client: JsonClient;
  readonly #credentials: Credentials;
  readonly #clock: Clock;
  #token: Token | undefined;
  /** Of a family that was replaced by signing in, until no request carries it; `cancel` stops its timer. */
  #retired: { readonly access: string; readonly cancel: () => void } | undefined;
  #renewal: Promise<Token> | undefined;
  #replacedAt = Number.NEGATIVE_INFINITY;
  #retries = new RetryBudget();
  #failures = 0;
  #lastError: CredentialError | undefined;

  constructor(client: JsonClient, credentials: Credentials, clock: Clock) {
    this.#client = client;
    this.#credentials = credentials;
    this.#clock = clock;
  }

  get secondsLeft(): number | undefined {
    return this.#token === undefined ? undefined : (this.#token.expiresAt - this.#clock.monotonic()) / 1000;
  }

  get cachedToken(): string | undefined {
    return this.#valid?.access;
  }

  get #valid(): Token | undefined {
    return this.#token !== undefined && this.#clock.monotonic() < this.#token.expiresAt ? this.#token : undefined;
  }

  /** One stays in use while its successor is requested. A CredentialError says until when no credentials are sent. */
  async get(signal: AbortSignal): Promise<string> {
    const token = this.#valid;
    if (token !== undefined && this.#clock.monotonic() < token.renewAt) return token.access;
    this.#renewal ??= this.#renew(signal).finally(() => {
      this.#renewal = undefined;
    });
    if (token === undefined) return (await this.#renewal).access;
    // The error is stored, and thrown when a token is needed and there is none.
    this.#renewal.catch(() => {});
    return token.access;
  }

  /** Reports a 401 for a request with this token, and returns whether there is another to try, for credentials read again. */
  invalidate(access: string): boolean {
    if (this.#token?.access !== access) return true;
    const now = this.#clock.monotonic();
    if (now - this.#replacedAt < REPLACED_EVERY_MS) return false;
    this.#replacedAt = now;
    this.#token = undefined;
    return true;
  }

  /** Refreshes at once. Rejects if the service accepts no refresh; the token at hand is kept then. */
  async refresh(signal: AbortSignal): Promise<void> {
    const token = this.#token;
    if (token?.refresh === undefined)
      throw new SchemaError('refreshing the token: expected an object with refresh_token');
    this.#token = { ...token, refresh: undefined };
    const request = refreshRequest(token.access, token.refresh);
    this.#token = this.#read(await this.#client.send(request, signal), token.signedInAt);
  }

  /** Revokes the families that are alive. Never rejects: a token that cannot be revoked expires on its own. */
  async revoke(signal: AbortSignal): Promise<void> {
    await this.#renewal?.catch(() => {});
    const token = this.#token;
    this.#token = undefined;
    await this.#revokeRetired(signal);
    if (token !== undefined) await this.#revoke(token.access, signal);
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
    const paused = this.#lastError;
    if (paused?.pausedUntil !== undefined && this.#clock.monotonic() < paused.pausedUntil) throw paused;
    try {
      const token = (await this.#refreshed(signal)) ?? (await this.#signedIn(signal));
      this.#token = token;
      this.#failures = 0;
      this.#lastError = undefined;
      // A token is requested too seldom to earn back the retries that an outage has used up.
      this.#retries = new RetryBudget();
      return token;
    } catch (thrown) {
      const error = asError(thrown);
      // It may have been dropped meanwhile after a 401.
      const held = this.#valid;
      if (held === undefined || areRejected(error)) throw this.#fail(error);
      // The token service fails, not the credentials: the current token is valid until it expires.
      const retryAt = this.#clock.monotonic() + RENEWAL_RETRY_MS;
      this.#token = { ...held, renewAt: Math.min(retryAt, held.expiresAt) };
      return this.#token;
    }
  }

  #fail(cause: Error): Error {
    if (cause instanceof RequestError && cause.reason === 'aborted') return cause;
    const rejected = areRejected(cause);
    this.#failures += 1;
    // Every poll needs a token: without a pause each poll would send a request that fails.
    const pauseMs = exponentialDelayMs(rejected ? PAUSES.rejected : PAUSES.troubled, this.#failures, () => 1);
    const pausedUntil = this.#clock.monotonic() + pauseMs;
    this.#token = undefined;
    const advice = rejected ? '; check the portal credentials and that their key is not revoked' : '';
    const message = `getting a token from the portal: ${cause.message}${advice}`;
    this.#lastError = new CredentialError(message, { cause, pausedUntil });
    return this.#lastError;
  }

  /** Undefined if only signing in helps. Rejects if the service fails while the token at hand is valid. */
  async #refreshed(signal: AbortSignal): Promise<Token | undefined> {
    const token = this.#token;
    if (token?.refresh === undefined) return undefined;
    if (this.#clock.monotonic() - token.signedInAt >= MAX_FAMILY_MS) return undefined;
    try {
      await this.refresh(signal);
      return this.#token;
    } catch (error) {
      // Whether the service has refreshed the token is unknown, so only signing in can follow.
      if (isUndecided(error) && this.#valid !== undefined) throw error;
      return undefined;
    }
  }

  /** The family that is replaced is revoked later: refreshing has failed, or its state is unknown. */
  async #signedIn(signal: AbortSignal): Promise<Token> {
    const token = await this.#authenticate(signal);
    const replaced = this.#valid;
    if (replaced !== undefined) {
      void this.#revokeRetired(signal);
      // Only a token that has not expired can revoke its family.
      const leftMs = replaced.expiresAt - this.#clock.monotonic() - REVOKED_EARLIER_MS;
      const cancel = callAfter(this.#clock, Math.min(this.#client.timeoutMs, leftMs), () =>
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
    const request = tokenRequest(credentials);
    // One request however many wait for it, so the delay needs no jitter.
    const retryParts = { clock: this.#clock, random: () => 1, allowance: this.#retries };
    const ask = () => this.#client.send({ ...request, priority: true }, signal);
    return this.#read(await withRetries(ask, 'token', retryParts, signal));
  }

  #read(body: unknown, signedInAt = this.#clock.monotonic()): Token {
    const answer = parseToken(body);
    const { seconds } = lifetimeOf(answer, this.#client.now());
    const lifetime = Math.min(seconds, MAX_LIFETIME_SECONDS);
    const now = this.#clock.monotonic();
    const margin = Math.min(MARGIN.maxSeconds, lifetime * MARGIN.share);
    const expiresAt = now + lifetime * 1000;
    const { access, refresh } = answer;
    return { access, refresh, signedInAt, renewAt: expiresAt - margin * 1000, expiresAt };
  }
}

/** The credentials are wrong; anything else is a fault of the service. */
function areRejected(error: Error): boolean {
  return policyForError(error, 'token').action === 'pause';
}

/** The service may have refreshed the token, and nothing says so. */
function isUndecided(error: unknown): boolean {
  return ['network', 'timeout', 'throttled', 'server_error'].includes(policyForError(error, 'token').reason);
}

/** Characters that a header allows: a token with any other could never be sent, and would be kept until it expires. */
const SENDABLE = /^[\x21-\x7e]+$/;

export function parseToken(body: unknown) {
  const { access_token: access, refresh_token: refresh, expires_in: expiresIn } = objectOrEmpty(body);
  if (typeof access !== 'string' || !SENDABLE.test(access)) {
    throw new SchemaError('reading the portal’s token: expected an object with access_token in printable ASCII');
  }
  return { access, refresh: typeof refresh === 'string' && refresh !== '' ? refresh : undefined, expiresIn };
}

export function tokenRequest(credentials: Credentials): ServiceRequest {
  const request = { method: 'POST', path: '/auth/token', operation: 'token', validate: parseToken } as const;
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
  const request = { method: 'POST', path: '/auth/token/refresh', operation: 'token', check: parseToken } as const;
  return { ...request, headers, json: { token: refresh }, priority: true };
}

export function revokeRequest(access: string): ServiceRequest {
  const headers = { authorization: `Bearer ${access}` };
  return { method: 'DELETE', path: '/auth/token', operation: 'token', headers };
}

/** A token's lifetime in seconds, maybe infinite; `exp - iat` depends on no clock. `now`: epoch milliseconds. */
export function lifetimeOf(
  { access, expiresIn }: Pick<ReturnType<typeof parseToken>, 'access' | 'expiresIn'>,
  now: number,
) {
  const told = parseDecimal(expiresIn) ?? 0;
  if (told > 0) return { seconds: told, toldBy: 'expires_in' } as const;
  const claims = jwtClaims(access);
  const seconds = (parseDecimal(claims.exp) ?? Number.NaN) - (parseDecimal(claims.iat) ?? now / 1000);
  if (seconds > 0) return { seconds, toldBy: 'jwt' } as const;
  return { seconds: ASSUMED_LIFETIME_SECONDS, toldBy: 'nothing' } as const;
}

/** Without verification; empty if it is not a JWT. */
function jwtClaims(token: string): Readonly<Record<string, unknown>> {
  try {
    return objectOrEmpty(JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString('utf8')));
  } catch {
    return {};
  }
}
