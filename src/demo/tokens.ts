import { type DemoRequest, type DemoResponse, errorResponse, invalid, jsonObject, ok } from './exchange.ts';
import { DAY_MS } from './values.ts';

/** What the services accept. Every secret of the demo contains `confidential` or `5ec2e700`. */
export const credentials = {
  gfaToken: '5ec2e700-6fa0-4000-8000-000000000001',
  serviceKey: 'confidential-service-key',
  serviceSecret: '5ec2e700-5ec2-4000-8000-000000000002',
  userKey: 'confidential-user-key',
} as const;

/** The forms in which a client can sign in. */
export type SignIn = 'oauth2' | 'service_key' | 'user_key';

/** The tokens that came of one sign-in. */
interface Family {
  isRevoked: boolean;
}

interface Token {
  readonly family: Family;
  readonly expiresAt: number;
  /** A refresh token works once. If it comes again, it was stolen, and its family ends. */
  isUsed?: true;
}

interface TokenOptions {
  readonly tokenLifetimeMs: number;
  readonly signIns: readonly SignIn[];
}

const REFRESH_LIFETIME_MS = 30 * DAY_MS;

/** The tokens of the portal: `POST /auth/token`, `POST /auth/token/refresh`, `DELETE /auth/token`. */
export class Tokens {
  readonly #access = new Map<string, Token>();
  readonly #refresh = new Map<string, Token>();
  #issued = 0;

  signIn(request: DemoRequest, now: number, options: TokenOptions): DemoResponse {
    const { headers, body } = request;
    const isForm = headers['content-type']?.startsWith('application/x-www-form-urlencoded') === true;
    const form = new URLSearchParams(isForm ? body : '');
    const [key, secret] = [headers['x-service-key'], headers['x-service-secret']];
    const given: Partial<Record<SignIn, boolean>> = {
      ...(isForm && { oauth2: isServiceKey(form.get('client_id'), form.get('client_secret')) }),
      ...(key !== undefined && secret !== undefined && { service_key: isServiceKey(key, secret) }),
      ...(headers['x-user-key'] !== undefined && { user_key: headers['x-user-key'] === credentials.userKey }),
    };
    const [[kind, isRight] = [], ...others] = Object.entries(given) as [SignIn, boolean][];
    if (kind === undefined || others.length > 0) return errorResponse('portal', 400);
    if (!isRight || !options.signIns.includes(kind)) return errorResponse('portal', 401, 'Invalid credentials');
    return this.#issue({ isRevoked: false }, now, options);
  }

  /** The request carries the access token, too, which may have expired. */
  refresh(request: DemoRequest, now: number, options: TokenOptions): DemoResponse {
    const text = jsonObject(request.body)?.token;
    if (typeof text !== 'string') return invalid('token', 'Field required');
    const token = this.#refresh.get(text);
    const rejected = errorResponse('portal', 401, 'Invalid refresh token');
    if (token === undefined || token.family !== this.#access.get(bearer(request))?.family) return rejected;
    if (token.isUsed) token.family.isRevoked = true;
    if (token.family.isRevoked || now >= token.expiresAt) return rejected;
    token.isUsed = true;
    return this.#issue(token.family, now, options);
  }

  revoke(request: DemoRequest): DemoResponse {
    const token = this.#access.get(bearer(request));
    if (token !== undefined) token.family.isRevoked = true;
    return ok({});
  }

  accepts(request: DemoRequest, now: number): boolean {
    const token = this.#access.get(bearer(request));
    return token !== undefined && !token.family.isRevoked && now < token.expiresAt;
  }

  /** The number of sign-ins whose tokens can still be used or refreshed. */
  alive(now: number): number {
    const tokens = [...this.#access.values(), ...this.#refresh.values()];
    const usable = tokens.filter(({ family, expiresAt, isUsed }) => !family.isRevoked && now < expiresAt && !isUsed);
    return new Set(usable.map(({ family }) => family)).size;
  }

  #issue(family: Family, now: number, { tokenLifetimeMs }: TokenOptions): DemoResponse {
    this.#issued += 1;
    const expiresAt = now + tokenLifetimeMs;
    const access = jwt({ jti: this.#issued, iat: Math.floor(now / 1000), exp: Math.floor(expiresAt / 1000) });
    const refresh = `confidential-refresh-token-${this.#issued}`;
    this.#access.set(access, { family, expiresAt });
    this.#refresh.set(refresh, { family, expiresAt: now + REFRESH_LIFETIME_MS });
    // The lifetime stands in the token itself, as in those of the real service.
    return ok({ access_token: access, refresh_token: refresh, token_type: 'bearer', expires_in: null });
  }
}

function isServiceKey(key: string | null | undefined, secret: string | null | undefined): boolean {
  return key === credentials.serviceKey && secret === credentials.serviceSecret;
}

function bearer({ headers }: DemoRequest): string {
  return /^Bearer +(\S+)$/i.exec(headers.authorization ?? '')?.[1] ?? '';
}

/** No client has a key to verify a token, so the signature is none. */
function jwt(claims: Readonly<Record<string, number>>): string {
  const parts = [{ alg: 'HS256', typ: 'JWT' }, claims];
  return [...parts.map((part) => Buffer.from(JSON.stringify(part)).toString('base64url')), '5ec2e700'].join('.');
}
