import { isFields } from '../../metrics/family.ts';
import { decimal } from '../../metrics/units.ts';
import type { Clock } from '../../runtime/clock.ts';
import { asError, CredentialError, RequestError, ShapeError } from '../../runtime/errors.ts';
import type { Secret } from '../../runtime/secret.ts';
import type { ApiRequest, JsonClient } from '../../transport/client.ts';
import { RetryAllowance, withRetries } from '../../transport/retry.ts';
import { portalRetries } from './requests.ts';

/** One of the three ways to authenticate (upstream-api.md 3.1). */
export type Credentials =
  | { readonly kind: 'oauth2' | 'service_key'; readonly key: Secret; readonly secret: Secret }
  | { readonly kind: 'user_key'; readonly key: Secret };

interface Pair {
  readonly access: string;
  readonly refresh: string | undefined;
  /** Monotonic milliseconds: it is renewed, the next one is waited for, it is of no use any more. */
  readonly renewAt: number;
  readonly waitAt: number;
  readonly expiresAt: number;
}

/** Assumed when neither `expires_in` nor the token itself tells, in seconds. */
const ASSUMED_LIFETIME_SECONDS = 300;
const LONGEST_LIFETIME_SECONDS = 86_400;

/** A token is renewed so long before it expires: the smaller of two minutes and a fifth of its life, in seconds. */
const MARGIN = { mostSeconds: 120, share: 0.2 } as const;

/** What is left of that margin when a request sent with the token might arrive too late. */
const TOO_LATE_SHARE = 0.25;

/** A renewal that failed while the token is still good is tried again after so long, in milliseconds. */
const RENEWAL_RETRY_MS = 10_000;

/**
 * Pauses after an authentication that failed, doubling, in milliseconds: after rejected credentials, and while the token
 * service is in trouble.
 */
const PAUSES = {
  refused: { firstMs: 5_000, longestMs: 300_000 },
  troubled: { firstMs: 1_000, longestMs: 30_000 },
} as const;

/** The access token of one account: fetched when first needed, renewed by one request however many wait for it. */
export class TokenSource {
  readonly #client: JsonClient;
  readonly #credentials: Credentials;
  readonly #clock: Clock;
  #pair: Pair | undefined;
  #renewal: Promise<Pair> | undefined;
  readonly #retries = new RetryAllowance();
  #failures = 0;
  #pausedUntil = Number.NEGATIVE_INFINITY;
  #lastError: CredentialError | undefined;

  constructor(client: JsonClient, credentials: Credentials, clock: Clock) {
    this.#client = client;
    this.#credentials = credentials;
    this.#clock = clock;
  }

  /** Seconds until the token at hand expires; undefined without one. */
  get secondsLeft(): number | undefined {
    return this.#pair === undefined ? undefined : (this.#pair.expiresAt - this.#clock.monotonic()) / 1000;
  }

  /** The token at hand; undefined without one that is still good. */
  get atHand(): string | undefined {
    const pair = this.#pair;
    return pair !== undefined && this.#clock.monotonic() < pair.expiresAt ? pair.access : undefined;
  }

  /**
   * A token good for a request now. It waits only where the one at hand is about to expire: one that is to be renewed
   * serves until then, while the one request for the next is under way. Rejects with a CredentialError when the credentials are
   * refused or the token service cannot be used; after a refusal nothing is sent until a growing pause is over.
   */
  async get(signal: AbortSignal): Promise<string> {
    const pair = this.#pair;
    const now = this.#clock.monotonic();
    if (pair !== undefined && now < pair.renewAt) return pair.access;
    const renewal = this.#renewed(signal);
    if (pair === undefined || now >= pair.waitAt) return (await renewal).access;
    // What goes wrong is kept, and comes out where a token is needed and there is none.
    renewal.catch(() => {});
    return pair.access;
  }

  /** Says that a request with this token was answered 401: the next one authenticates anew, with credentials read again. */
  reject(access: string): void {
    if (this.#pair?.access === access) this.#pair = undefined;
  }

  /**
   * Ends the token at hand and its family, once a renewal under way is over. Never rejects: a token that cannot be revoked
   * expires by itself.
   */
  async revoke(signal: AbortSignal): Promise<boolean> {
    await this.#renewal?.catch(() => {});
    const pair = this.#pair;
    if (pair === undefined) return false;
    this.#pair = undefined;
    try {
      const headers = { authorization: `Bearer ${pair.access}` };
      await this.#client.send({ method: 'DELETE', path: '/auth/token', operation: 'token', headers }, signal);
      return true;
    } catch {
      return false;
    }
  }

  /** The renewal under way, or a new one. */
  #renewed(signal: AbortSignal): Promise<Pair> {
    this.#renewal ??= this.#renew(signal).finally(() => {
      this.#renewal = undefined;
    });
    return this.#renewal;
  }

  async #renew(signal: AbortSignal): Promise<Pair> {
    const now = this.#clock.monotonic();
    if (this.#lastError !== undefined && now < this.#pausedUntil) throw this.#lastError;
    try {
      const pair = (await this.#refresh(signal)) ?? (await this.#authenticate(signal));
      this.#pair = pair;
      this.#failures = 0;
      this.#lastError = undefined;
      return pair;
    } catch (thrown) {
      const error = asError(thrown);
      // Not there any more where a request with it was answered 401 meanwhile.
      const held = this.#pair;
      const good = held !== undefined && this.#clock.monotonic() < held.expiresAt;
      if (!good || isRefused(error)) throw this.#fail(error);
      // The token service is in trouble and not the credentials: what we hold is good until it expires.
      const retryAt = this.#clock.monotonic() + RENEWAL_RETRY_MS;
      this.#pair = { ...held, renewAt: Math.min(retryAt, held.expiresAt) };
      return this.#pair;
    }
  }

  #fail(cause: Error): Error {
    if (cause instanceof RequestError && cause.fault === 'aborted') return cause;
    const refused = isRefused(cause);
    this.#failures += 1;
    // All that is polled asks for a token: without a pause each poll would be a request that brings nothing.
    const { firstMs, longestMs } = refused ? PAUSES.refused : PAUSES.troubled;
    const pauseMs = Math.min(firstMs * 2 ** (this.#failures - 1), longestMs);
    this.#pausedUntil = this.#clock.monotonic() + pauseMs;
    this.#pair = undefined;
    const advice = refused ? '; check the portal credentials and that their key is not revoked' : '';
    this.#lastError = new CredentialError(`getting a token from the portal: ${cause.message}${advice}`, {
      cause,
      pausedUntil: this.#pausedUntil,
    });
    return this.#lastError;
  }

  /** A new pair for the refresh token at hand; undefined when there is none, it is not taken, or nobody says in time. */
  async #refresh(signal: AbortSignal): Promise<Pair | undefined> {
    const pair = this.#pair;
    if (pair?.refresh === undefined) return undefined;
    // Spent whatever comes: a refresh token may be good for one use only.
    this.#pair = { ...pair, refresh: undefined };
    try {
      return this.#read(
        await this.#client.send(
          {
            method: 'POST',
            path: '/auth/token/refresh',
            operation: 'token',
            headers: { authorization: `Bearer ${pair.access}` },
            json: { token: pair.refresh },
            check: accessTokenOf,
          },
          signal,
        ),
      );
    } catch (error) {
      if (!(error instanceof RequestError)) return undefined;
      if (error.fault === 'aborted') throw error;
      // Nobody answered: the token at hand serves while it is good. Where the wait outlived it, the credentials are left.
      const isAnswered = error.status !== undefined || error.fault === 'invalid';
      if (!isAnswered && this.#clock.monotonic() < pair.expiresAt) throw error;
      return undefined;
    }
  }

  async #authenticate(signal: AbortSignal): Promise<Pair> {
    const credentials = this.#credentials;
    await credentials.key.reload();
    if (credentials.kind !== 'user_key') await credentials.secret.reload();
    const request = tokenRequest(credentials);
    // One request however many wait for it: there is nobody to keep out of step with.
    const patience = { clock: this.#clock, random: () => 1, allowance: this.#retries };
    const ask = (again: boolean) => this.#client.send({ ...request, again }, signal);
    return this.#read(await withRetries(ask, portalRetries, patience, signal));
  }

  #read(body: unknown): Pair {
    const access = accessTokenOf(body);
    const { expires_in, refresh_token } = isFields(body) ? body : {};
    const lifetime = lifetimeSeconds(expires_in, access, this.#clock.now());
    const now = this.#clock.monotonic();
    const margin = Math.min(MARGIN.mostSeconds, lifetime * MARGIN.share);
    const expiresAt = now + lifetime * 1000;
    return {
      access,
      refresh: typeof refresh_token === 'string' && refresh_token !== '' ? refresh_token : undefined,
      renewAt: expiresAt - margin * 1000,
      waitAt: expiresAt - TOO_LATE_SHARE * margin * 1000,
      expiresAt,
    };
  }
}

/** What says that the credentials are no good (upstream-api.md 3.1). Any other status is the service's own trouble. */
const REFUSALS: ReadonlySet<number | undefined> = new Set([400, 401, 403, 422]);

function isRefused(error: Error): boolean {
  return error instanceof RequestError && REFUSALS.has(error.status);
}

/** What can stand in a header: a token with anything else in it could never be used, and would be held until it expires. */
const SENDABLE = /^[\x21-\x7e]+$/;

/** The access token of a token answer. Throws a ShapeError where there is none. */
export function accessTokenOf(body: unknown): string {
  if (isFields(body) && typeof body.access_token === 'string' && SENDABLE.test(body.access_token)) {
    return body.access_token;
  }
  throw new ShapeError('reading the portal’s token: expected an object with access_token, a text of printable ASCII');
}

/** `POST /auth/token` in the form of the credentials. */
export function tokenRequest(credentials: Credentials): ApiRequest {
  const request = { method: 'POST', path: '/auth/token', operation: 'token', check: accessTokenOf } as const;
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

/**
 * How long a token lives, in seconds: `expires_in` when it is a positive number, else what the JWT's own claims say
 * (`exp - iat`, which no clock can spoil, or `exp` against `now` in epoch milliseconds), else five minutes. A day at most:
 * claims may say anything, infinity included.
 */
export function lifetimeSeconds(expiresIn: unknown, token: string, now: number): number {
  const told = decimal(expiresIn);
  if (told !== undefined && told > 0) return Math.min(told, LONGEST_LIFETIME_SECONDS);
  const claims = jwtClaims(token);
  const exp = decimal(claims.exp);
  if (exp === undefined) return ASSUMED_LIFETIME_SECONDS;
  const lifetime = exp - (decimal(claims.iat) ?? now / 1000);
  return lifetime > 0 ? Math.min(lifetime, LONGEST_LIFETIME_SECONDS) : ASSUMED_LIFETIME_SECONDS;
}

/** The claims of a JWT, neither verified nor trusted; none when it is not one. */
function jwtClaims(token: string): Readonly<Record<string, unknown>> {
  try {
    const payload: unknown = JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString('utf8'));
    return isFields(payload) ? payload : {};
  } catch {
    return {};
  }
}
