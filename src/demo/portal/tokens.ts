import { createHash } from 'node:crypto';
import type { Variations } from '../variations.ts';

/** An access token and the refresh token that comes with it, which the exporter does not use. */
export interface TokenPair {
  readonly access: string;
  readonly refresh: string;
}

interface AccessToken {
  readonly expiresAt: number;
  isRevoked: boolean;
}

/** The maximum number of tokens; older ones become invalid. */
const TOKENS_KEPT = 1_000;

/** The tokens that the portal has issued. */
export class Tokens {
  readonly #seed: number;
  readonly #access = new Map<string, AccessToken>();
  #issued = 0;

  constructor(seed: number) {
    this.#seed = seed;
  }

  issue(now: number, variations: Variations): TokenPair {
    this.#issued += 1;
    const expiresAt = now + variations.tokenLifetimeMs;
    const access = variations.jwt === 'exp' ? this.#jwt(now, expiresAt) : this.#opaque('access');
    this.#access.set(access, { expiresAt, isRevoked: false });
    for (const oldest of this.#access.keys()) {
      if (this.#access.size <= TOKENS_KEPT) break;
      this.#access.delete(oldest);
    }
    return { access, refresh: this.#opaque('refresh') };
  }

  /** Whether the access token was issued here, has not expired and is not revoked. */
  accepts(access: string, now: number): boolean {
    const token = this.#access.get(access);
    return token !== undefined && !token.isRevoked && now < token.expiresAt;
  }

  revoke(access: string): void {
    const token = this.#access.get(access);
    if (token !== undefined) token.isRevoked = true;
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
