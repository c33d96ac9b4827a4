import { parseDecimal } from '../../metrics/units.ts';
import { SchemaError } from '../../runtime/errors.ts';
import type { Secret } from '../../runtime/secret.ts';
import type { ServiceRequest } from '../../transport/json-client.ts';
import { objectOrEmpty } from './records.ts';

export type Credentials =
  | { readonly kind: 'oauth2' | 'service_key'; readonly key: Secret; readonly secret: Secret }
  | { readonly kind: 'user_key'; readonly key: Secret };

/** The lifetime that is assumed if neither `expires_in` nor the token itself reports one. */
const ASSUMED_LIFETIME_SECONDS = 300;

/** The characters that a header allows. A token with another could never be sent, but would be kept until it expires. */
const SENDABLE = /^[\x21-\x7e]+$/;

export type ReceivedToken = ReturnType<typeof parseToken>;

function parseToken(body: unknown) {
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
  read: parseToken,
} as const;

export function tokenRequest(credentials: Credentials): ServiceRequest<ReceivedToken> {
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

export function refreshRequest(access: string, refresh: string): ServiceRequest<ReceivedToken> {
  const headers = { authorization: `Bearer ${access}` };
  // A service may revoke all tokens if a refresh token arrives twice.
  return { ...TOKEN_REQUEST, path: '/auth/token/refresh', headers, json: { token: refresh }, onlyOnce: true };
}

export function revokeRequest(access: string): ServiceRequest {
  const headers = { authorization: `Bearer ${access}` };
  return { method: 'DELETE', path: '/auth/token', operation: 'token', headers, priority: true };
}

/** A token's lifetime in seconds, which may be infinite. `now`: epoch milliseconds. */
export function lifetimeOf({ access, expiresIn }: Pick<ReceivedToken, 'access' | 'expiresIn'>, now: number): number {
  const reportedSeconds = parseDecimal(expiresIn) ?? 0;
  if (reportedSeconds > 0) return reportedSeconds;
  const claims = jwtClaims(access);
  const seconds = (parseDecimal(claims.exp) ?? Number.NaN) - (parseDecimal(claims.iat) ?? now / 1000);
  return seconds > 0 ? seconds : ASSUMED_LIFETIME_SECONDS;
}

/** The claims of a JWT, which are not verified; empty for another token. */
function jwtClaims(token: string): Readonly<Record<string, unknown>> {
  try {
    return objectOrEmpty(JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString('utf8')));
  } catch {
    return {};
  }
}
