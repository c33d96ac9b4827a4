import { createHash } from 'node:crypto';
import type { Variations } from '../variations.ts';

/** An access token and the refresh token that came with it. */
export interface TokenPair {
  readonly access: string;
  readonly refresh: string;
}

/** All tokens that descend from one authentication; revoked together. */
interface Family {
  readonly id: number;
  revoked: boolean;
}

interface AccessToken {
  readonly family: Family;
  readonly expiresAt: number;
}

interface RefreshToken {
  readonly family: Family;
  used: boolean;
}

/** The maximum number of tokens of each kind; older ones become invalid. */
const TOKENS_KEPT = 1_000;

/** The tokens that the portal has issued. */
export class Tokens {
  readonly #seed: number;
  readonly #access = new Map<string, AccessToken>();
  readonly #refresh = new Map<string, RefreshToken>();
  #issued = 0;

  constructor(seed: number) {
    this.#seed = seed;
  }

  /** A new pair, of the given family or a new one. */
  issue(now: number, variations: Variations, family: Family = { id: this.#issued, revoked: false }): TokenPair {
    this.#issued += 1;
    const expiresAt = now + variations.tokenLifetimeMs;
    const access = variations.jwt === 'exp' ? this.#jwt(now, expiresAt) : this.#opaque('access');
    const refresh = this.#opaque('refresh');
    remember(this.#access, access, { family, expiresAt });
    remember(this.#refresh, refresh, { family, used: false });
    return { access, refresh };
  }

  /** Whether the access token was issued here, has not expired and is not revoked. */
  accepts(access: string, now: number): boolean {
    const token = this.#access.get(access);
    return token !== undefined && !token.family.revoked && now < token.expiresAt;
  }

  /** A new pair of the same family; undefined if the refresh token is unknown, revoked or used. */
  refresh(refresh: string, now: number, variations: Variations): TokenPair | undefined {
    const token = this.#refresh.get(refresh);
    if (token === undefined || token.family.revoked) return undefined;
    if (token.used && variations.refreshSingleUse) return undefined;
    token.used = true;
    return this.issue(now, variations, token.family);
  }

  /** Revokes an access token and its whole family. */
  revoke(access: string): void {
    const token = this.#access.get(access);
    if (token !== undefined) token.family.revoked = true;
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

function remember<Token>(tokens: Map<string, Token>, name: string, token: Token): void {
  tokens.set(name, token);
  for (const oldest of tokens.keys()) {
    if (tokens.size <= TOKENS_KEPT) break;
    tokens.delete(oldest);
  }
}
