import { createHash } from 'node:crypto';
import type { Variations } from '../variations.ts';

/** An access token and the refresh token that comes with it. */
export interface TokenPair {
  readonly access: string;
  readonly refresh: string;
}

/** The tokens of one sign-in. Each refresh token works once; if one comes again, all of them end. */
interface Family {
  isRevoked: boolean;
}

interface IssuedToken {
  readonly family: Family;
  readonly expiresAt: number;
  isUsed?: true;
}

/** The maximum number of access tokens, and of refresh tokens; older ones become invalid. */
const TOKENS_KEPT = 1_000;

const REFRESH_LIFETIME_MS = 30 * 86_400_000;

/** The tokens that the portal has issued. */
export class Tokens {
  readonly #seed: number;
  readonly #access = new Map<string, IssuedToken>();
  readonly #refresh = new Map<string, IssuedToken>();
  #issued = 0;

  constructor(seed: number) {
    this.#seed = seed;
  }

  issue(now: number, variations: Variations, family: Family = { isRevoked: false }): TokenPair {
    this.#issued += 1;
    const expiresAt = now + variations.tokenLifetimeMs;
    const access = variations.jwt === 'exp' ? this.#jwt(now, expiresAt) : this.#opaque('access');
    const refresh = this.#opaque('refresh');
    keep(this.#access, access, { family, expiresAt });
    keep(this.#refresh, refresh, { family, expiresAt: now + REFRESH_LIFETIME_MS });
    return { access, refresh };
  }

  /** Undefined for a refresh token that is unknown, expired, used or of another family than the access token. */
  refresh(refresh: string, access: string, now: number, variations: Variations): TokenPair | undefined {
    const token = this.#refresh.get(refresh);
    if (token === undefined || token.family !== this.#access.get(access)?.family) return undefined;
    if (token.isUsed) token.family.isRevoked = true;
    if (token.family.isRevoked || now >= token.expiresAt) return undefined;
    token.isUsed = true;
    return this.issue(now, variations, token.family);
  }

  /** Whether the access token was issued here, has not expired and is not revoked. */
  accepts(access: string, now: number): boolean {
    const token = this.#access.get(access);
    return token !== undefined && !token.family.isRevoked && now < token.expiresAt;
  }

  /** Ends the family of an access token. */
  revoke(access: string): void {
    const token = this.#access.get(access);
    if (token !== undefined) token.family.isRevoked = true;
  }

  /** How many families can still be used or refreshed. */
  families(now: number): number {
    const isAlive = (token: IssuedToken) => !token.family.isRevoked && now < token.expiresAt && token.isUsed !== true;
    const alive = [...this.#access.values(), ...this.#refresh.values()].filter(isAlive);
    return new Set(alive.map(({ family }) => family)).size;
  }

  #jwt(now: number, expiresAt: number): string {
    const seconds = (at: number) => Math.floor(at / 1000);
    const claims = { sub: `demo-${this.#seed}`, jti: String(this.#issued), iat: seconds(now), exp: seconds(expiresAt) };
    const parts = [{ alg: 'HS256', typ: 'JWT' }, claims].map((part) =>
      Buffer.from(JSON.stringify(part)).toString('base64url'),
    );
    // No client has a key to verify it: the third part only has to look like a signature.
    return [...parts, createHash('sha256').update(parts.join('.')).digest('base64url')].join('.');
  }

  #opaque(sort: string): string {
    return createHash('sha256').update(`${sort}/${this.#seed}/${this.#issued}`).digest('base64url');
  }
}

function keep(tokens: Map<string, IssuedToken>, text: string, token: IssuedToken): void {
  tokens.set(text, token);
  const [oldest] = tokens.keys();
  if (tokens.size > TOKENS_KEPT && oldest !== undefined) tokens.delete(oldest);
}
