import type { DemoCredentials } from '../credentials.ts';
import type { Complaint, DemoRequest, DemoResponse, Scene } from '../exchange.ts';
import { invalid, isObject, json, parsedJson, portalError } from '../exchange.ts';
import type { Variations } from '../variations.ts';
import type { TokenPair } from './tokens.ts';
import { Tokens } from './tokens.ts';

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

/** The token operations of the portal, and the check of the bearer token for all other operations. */
export class Auth {
  readonly #credentials: DemoCredentials;
  readonly #tokens: Tokens;

  constructor(credentials: DemoCredentials, seed: number) {
    this.#credentials = credentials;
    this.#tokens = new Tokens(seed);
  }

  /** `POST /auth/token`, with exactly one of the three forms. */
  token({ request, variations, now }: Scene): DemoResponse {
    const forms = [hasServiceHeaders(request), request.headers.has('x-user-key'), hasForm(request)];
    if (forms.filter(Boolean).length !== 1) {
      return portalError(400, 'Exactly one of service key headers, user key header and form body is required');
    }
    const form = hasForm(request) ? 'oauth2' : request.headers.has('x-user-key') ? 'user_key' : 'service_key';
    if (!variations.authForms.includes(form)) return wrongCredentials();
    const rejection = hasForm(request) ? this.#rejectForm(request) : this.#rejectHeaders(request);
    return rejection ?? tokenAnswer(this.#tokens.issue(now, variations), variations);
  }

  /** `POST /auth/token/refresh`, with the bearer token, which may have expired. */
  refresh({ request, variations, now }: Scene): DemoResponse {
    if (!variations.refreshes) return portalError(404, 'Not Found');
    const body = parsedJson(request.body);
    if (!isObject(body) || typeof body.token !== 'string')
      return invalid({ type: 'missing', loc: ['body', 'token'], msg: 'Field required', input: null });
    const pair = this.#tokens.refresh(body.token, bearer(request) ?? '', now, variations);
    return pair === undefined ? portalError(401, 'Invalid refresh token') : tokenAnswer(pair, variations);
  }

  /** The number of token families that are alive. */
  families(now: number): number {
    return this.#tokens.families(now);
  }

  /** `DELETE /auth/token`, after the check of the bearer token. */
  revoke({ request }: Scene): DemoResponse {
    this.#tokens.revoke(bearer(request) ?? '');
    return json(200, {});
  }

  /** The 401 for a request without a valid bearer token. */
  rejection({ request, now }: Scene): DemoResponse | undefined {
    const token = bearer(request);
    if (token !== undefined && this.#tokens.accepts(token, now)) return undefined;
    return portalError(401, token === undefined ? 'Not authenticated' : 'Invalid or expired token');
  }

  #rejectHeaders({ headers, body }: DemoRequest): DemoResponse | undefined {
    if (body.trim() !== '' && body.trim() !== '{}') return portalError(400, 'A body is not expected here');
    const userKey = headers.get('x-user-key');
    if (userKey !== undefined) return userKey === this.#credentials.userKey ? undefined : wrongCredentials();
    const [key, secret] = [headers.get('x-service-key'), headers.get('x-service-secret')];
    if (key === undefined || secret === undefined) return portalError(400, 'Both service key headers are required');
    return this.#isService(key, secret) ? undefined : wrongCredentials();
  }

  #rejectForm({ body }: DemoRequest): DemoResponse | undefined {
    const form = new URLSearchParams(body);
    const complaints: Complaint[] = [];
    const complain = (type: string, field: string, msg: string) =>
      complaints.push({ type, loc: ['body', field], msg, input: form.get(field) });
    for (const field of ['grant_type', 'client_id', 'client_secret']) {
      if (!form.has(field)) complain('missing', field, 'Field required');
    }
    const [grant, secret] = [form.get('grant_type'), form.get('client_secret')];
    if (grant !== null && grant !== 'client_credentials') complain('literal_error', 'grant_type', 'client_credentials');
    if (secret !== null && !UUID.test(secret)) complain('uuid_parsing', 'client_secret', 'A UUID is expected');
    if (complaints.length > 0) return invalid(...complaints);
    return this.#isService(form.get('client_id') ?? '', secret ?? '') ? undefined : wrongCredentials();
  }

  #isService(key: string, secret: string): boolean {
    return key === this.#credentials.serviceKey && secret === this.#credentials.serviceSecret;
  }
}

function hasServiceHeaders({ headers }: DemoRequest): boolean {
  return headers.has('x-service-key') || headers.has('x-service-secret');
}

function hasForm({ headers, body }: DemoRequest): boolean {
  return body !== '' && /^application\/x-www-form-urlencoded\b/i.test(headers.get('content-type') ?? '');
}

function bearer({ headers }: DemoRequest): string | undefined {
  return /^Bearer +(\S+)$/i.exec(headers.get('authorization') ?? '')?.[1];
}

function wrongCredentials(): DemoResponse {
  return portalError(401, 'Invalid credentials');
}

function tokenAnswer({ access, refresh }: TokenPair, variations: Variations): DemoResponse {
  return json(200, {
    access_token: access,
    refresh_token: refresh,
    ...(variations.omitOptional ? {} : { token_type: 'bearer', expires_in: variations.expiresIn }),
  });
}
