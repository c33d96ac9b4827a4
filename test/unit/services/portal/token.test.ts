import { expect, test } from 'vitest';
import { CredentialError, RequestError } from '../../../../src/runtime/errors.ts';
import { Secret } from '../../../../src/runtime/secret.ts';
import { withToken } from '../../../../src/services/portal/client.ts';
import { TokenSource } from '../../../../src/services/portal/token.ts';
import { type Credentials, lifetimeOf, tokenRequest } from '../../../../src/services/portal/token-requests.ts';
import type { ServiceRequest } from '../../../../src/transport/json-client.ts';
import { ServiceClock } from '../../../../src/transport/service-clock.ts';
import { ManualClock } from '../../../harness/manual-clock.ts';

const { signal } = new AbortController();

/** A response: a body, or a status; a promise if it takes time. */
type Reply = object | number | Promise<object | number>;

const SIGN_IN = 'POST /auth/token';
const REFRESH = 'POST /auth/token/refresh';
const REVOKE = 'DELETE /auth/token';

const token = (access_token: string, more: object = {}) => ({
  access_token,
  refresh_token: `${access_token}-refresh`,
  expires_in: 3600,
  ...more,
});

/** A token source, and the service that it asks: each request gets the next of its replies. */
class Service {
  readonly clock = new ManualClock();
  readonly serviceClock = new ServiceClock(this.clock);
  readonly sent: ServiceRequest[] = [];
  readonly tokens: TokenSource;
  readonly replies: Record<string, Reply[]> = { [REVOKE]: [{}, {}] };

  constructor(...signIns: readonly Reply[]) {
    this.answer(SIGN_IN, ...signIns);
    const credentials: Credentials = { kind: 'user_key', key: new Secret('key') };
    this.tokens = new TokenSource(this, credentials, this.clock);
  }

  answer(request: string, ...replies: readonly Reply[]): void {
    this.replies[request] = [...(this.replies[request] ?? []), ...replies];
  }

  async send<Result>(request: ServiceRequest<Result>): Promise<Result> {
    const sent = { ...request, ...(request.authorization && { headers: { authorization: request.authorization() } }) };
    this.sent.push(sent);
    const name = `${request.method} ${request.path}`;
    const reply = await this.replies[name]?.shift();
    if (reply === undefined) throw new Error(`${name} was not expected`);
    if (typeof reply !== 'number') return request.read === undefined ? (reply as Result) : request.read(reply);
    const purpose = request.purpose ?? 'read';
    const reason = reply === 0 ? 'network' : 'status';
    throw new RequestError(reason, `${name} returned ${reply}`, { ...(reply > 0 && { status: reply }), purpose });
  }

  get paths(): readonly string[] {
    return this.sent.map(({ method, path }) => `${method} ${path}`);
  }

  get(): Promise<string> {
    return this.tokens.get(signal).catch((error: unknown) => (error as Error).name);
  }

  /** The token once the renewal that has begun is over. */
  async renewed(): Promise<string> {
    await this.get();
    await this.clock.advance(0);
    return this.get();
  }
}

/** A service whose token “one” has 100 seconds left. */
async function aging(...refreshes: readonly Reply[]) {
  const service = new Service(token('one'));
  await service.get();
  await service.clock.advance(3_500_000);
  service.answer(REFRESH, ...refreshes);
  return service;
}

test('a token is requested once for fifty that wait for it, and once more after it has expired', async () => {
  const service = new Service(token('one'));
  const fifty = async () => new Set(await Promise.all(Array.from({ length: 50 }, () => service.get())));
  expect(await fifty()).toEqual(new Set(['one']));
  await service.clock.advance(3_600_000);
  service.answer(REFRESH, token('two'));
  expect(await fifty()).toEqual(new Set(['two']));
  expect(service.paths).toEqual([SIGN_IN, REFRESH]);
});

test.each([
  ['an hour, less two minutes', 3600, 3480],
  ['five minutes, less a fifth', 300, 240],
  ['a day at most, less two minutes', 1e300, 86_280],
])('a token is used for %s', async (_, expires_in, seconds) => {
  const service = new Service(token('one', { expires_in }));
  await service.get();
  await service.clock.advance(seconds * 1000 - 1);
  await service.get();
  expect(service.paths).toEqual([SIGN_IN]);
  await service.clock.advance(1);
  service.answer(REFRESH, token('two'));
  expect(await service.renewed()).toBe('two');
});

test.each([
  ['a list', []],
  ['no access token', { refresh_token: 'x' }],
  ['a line break in the token', { access_token: 'a\r\nx-evil: 1' }],
])('a token is not in a response with %s', async (_, body) => {
  const service = new Service(body);
  expect(await service.get()).toBe('CredentialError');
  expect(service.tokens.remainingSeconds).toBeUndefined();
});

const jwt = (claims: object) => `a.${Buffer.from(JSON.stringify(claims)).toString('base64url')}.c`;
test.each([
  ['expires_in', 900, jwt({ exp: 5000, iat: 0 }), 900],
  ['expires_in as text', '900', 'opaque', 900],
  ['exp less iat, whatever the clock says', null, jwt({ exp: 5000, iat: 1400 }), 3600],
  ['exp less now without iat', undefined, jwt({ exp: 1_000_600 }), 600],
  ['exp less iat if expires_in is no number', 'soon', jwt({ exp: 100, iat: 40 }), 60],
  ['ever, if its times are no times', null, jwt({ exp: 1.7e308, iat: -1.7e308 }), Number.POSITIVE_INFINITY],
  ['five minutes if exp is over', null, jwt({ exp: 10 }), 300],
  ['five minutes if exp is iat', null, jwt({ exp: 40, iat: 40 }), 300],
  ['five minutes for an opaque token', 0, 'opaque', 300],
  ['five minutes for a damaged JWT', null, 'a.%%%.c', 300],
])('a token lives for %s', (_, expiresIn, access, seconds) => {
  expect(lifetimeOf({ access, expiresIn }, 1_000_000_000)).toBe(seconds);
});

test('a renewal sends the refresh token with the access token, and replaces both', async () => {
  const service = await aging(token('two'));
  expect(await service.get()).toBe('one');
  expect(await service.renewed()).toBe('two');
  await service.clock.advance(3_500_000);
  service.answer(REFRESH, token('three'));
  expect(await service.renewed()).toBe('three');
  const refreshed = service.sent
    .slice(1)
    .map(({ headers, json, onlyOnce }) => [headers?.authorization, json, onlyOnce]);
  expect(refreshed).toEqual([
    ['Bearer one', { token: 'one-refresh' }, true],
    ['Bearer two', { token: 'two-refresh' }, true],
  ]);
});

test.each<[Reply]>([[401], [422], [503], [0], [{ access_token: 5 }]])(
  'a renewal that returns %j signs in at once',
  async (reply) => {
    const service = await aging(reply);
    service.answer(SIGN_IN, token('two'));
    expect(await service.renewed()).toBe('two');
    await service.clock.advance(60_000);
    expect(service.paths).toEqual([SIGN_IN, REFRESH, SIGN_IN]);
  },
);

test.each([503, 0])(
  'a renewal that fails (%d) and cannot sign in keeps the token for ten seconds more',
  async (status) => {
    const service = await aging(status);
    service.answer(SIGN_IN, status);
    expect(await service.renewed()).toBe('one');
    await service.clock.advance(9_999);
    expect(await service.renewed()).toBe('one');
    service.answer(SIGN_IN, token('two'));
    await service.clock.advance(1);
    expect(await service.renewed()).toBe('two');
    // A refresh token is never sent twice.
    expect(service.paths).toEqual([SIGN_IN, REFRESH, SIGN_IN, SIGN_IN]);
  },
);

test('a renewal that a 401 overtakes does not bring the old token back', async () => {
  let end: (status: number) => void = () => {};
  const service = await aging(new Promise<number>((resolve) => (end = resolve)));
  await service.get();
  service.tokens.invalidate('one');
  const waiting = service.get();
  service.answer(SIGN_IN, 503, token('two'));
  end(503);
  expect(await waiting).toBe('CredentialError');
  await service.clock.advance(1_000);
  expect(await service.get()).toBe('two');
});

test.each<[string, readonly Reply[], string, readonly string[]]>([
  ['replaces a valid token, refreshes and revokes none', [token('one'), token('two')], 'two', [SIGN_IN, SIGN_IN]],
  ['keeps a token that the service returns again', [token('one'), token('one')], 'one', [SIGN_IN, SIGN_IN]],
  ['keeps the token while the token service fails', [token('one'), 503], 'one', [SIGN_IN, SIGN_IN]],
  ['is nothing while there is no token', [401, 401], 'CredentialError', [SIGN_IN]],
])('signing in again after a 403 %s', async (_, signIns, kept, paths) => {
  const service = new Service(...signIns);
  await service.get();
  await service.tokens.signInAgain(signal);
  await service.clock.advance(60_000);
  expect(service.paths).toEqual(paths);
  expect(await service.get()).toBe(kept);
});

test.each([401, 422])(
  'rejected credentials (%d) are sent again after a pause that doubles to five minutes',
  async (status) => {
    const service = new Service();
    for (const pauseMs of [5_000, 10_000, 20_000, 40_000, 80_000, 160_000, 300_000, 300_000]) {
      service.answer(SIGN_IN, status);
      const before = service.sent.length;
      const until = service.clock.monotonic() + pauseMs;
      await expect(service.tokens.get(signal)).rejects.toMatchObject({ name: 'CredentialError', pausedUntil: until });
      await service.clock.advance(pauseMs - 1);
      await service.get();
      expect(service.sent.length).toBe(before + 1);
      await service.clock.advance(1);
    }
    service.answer(SIGN_IN, token('one'));
    expect(await service.get()).toBe('one');
    // After a success the pauses begin anew.
    service.tokens.invalidate('one');
    service.answer(SIGN_IN, status, token('two'));
    await service.get();
    await service.clock.advance(5_000);
    expect(await service.get()).toBe('two');
  },
);

test('rejected credentials end the use of a token that is still valid', async () => {
  const service = await aging(401);
  service.answer(SIGN_IN, 401);
  expect(await service.renewed()).toBe('CredentialError');
});

test.each([302, 404, 429, 503])(
  'rejected credentials are not meant by %d, which pauses for a second',
  async (status) => {
    const service = new Service(status, token('one'));
    await expect(service.tokens.get(signal)).rejects.toThrow(`POST /auth/token returned ${status}`);
    await service.clock.advance(1_000);
    expect(await service.get()).toBe('one');
  },
);

test('the stop waits for a renewal, and revokes its token once', async () => {
  let end: (body: object) => void = () => {};
  const service = await aging(new Promise<object>((resolve) => (end = resolve)));
  await service.get();
  const revoked = service.tokens.revoke(signal);
  end(token('two'));
  await revoked;
  await service.tokens.revoke(signal);
  expect(service.sent.slice(2)).toMatchObject([{ method: 'DELETE', headers: { authorization: 'Bearer two' } }]);
  expect(service.sent.map(({ priority }) => priority)).toEqual([true, true, true]);
});

test.each<[Credentials['kind'], object]>([
  ['oauth2', { form: { grant_type: 'client_credentials', client_id: 'k', client_secret: 's' } }],
  ['service_key', { headers: { 'x-service-key': 'k', 'x-service-secret': 's' }, json: {} }],
  ['user_key', { headers: { 'x-user-key': 'k' }, json: {} }],
])('credentials of the kind %s are in the documented place only', (kind, place) => {
  const request = tokenRequest({ kind, key: new Secret('k'), secret: new Secret('s') } as Credentials);
  const { headers, form, json } = request;
  expect({ headers, form, json }).toEqual({ headers: undefined, form: undefined, json: undefined, ...place });
});

const SERIALS = 'GET /serials';
const request = { method: 'GET', path: '/serials', operation: 'serials' } as const;

function portalOf(signIns: readonly Reply[], ...replies: readonly Reply[]) {
  const service = new Service(...signIns);
  service.answer(SERIALS, ...replies);
  const client = withToken(service, service.tokens);
  return { service, send: () => client.send(request, signal) };
}

test('a request that returns 401 is sent once more, together with fifty others, with one new token', async () => {
  const fifty = (reply: Reply) => Array.from({ length: 50 }, () => reply);
  const { service, send } = portalOf([token('one'), token('two')], ...fifty(401), ...fifty({ items: [] }));
  expect(await Promise.all(fifty({}).map(send))).toEqual(fifty({ items: [] }));
  const bearers = service.sent.filter(({ path }) => path === '/serials').map(({ headers }) => headers?.authorization);
  expect(bearers).toEqual([...Array(50).fill('Bearer one'), ...Array(50).fill('Bearer two')]);
  expect(service.paths.filter((path) => path === SIGN_IN)).toHaveLength(2);
});

test('a request that returns 401 with every token is an error of the credentials before any success, and of the request after one', async () => {
  const { send } = portalOf([token('one'), token('two')], 401, 401);
  await expect(send()).rejects.toThrow(CredentialError);
  const later = portalOf([token('one'), token('two')], { items: [] }, 401, 401, 401);
  await later.send();
  for (let attempt = 0; attempt < 2; attempt += 1) await expect(later.send()).rejects.toThrow(RequestError);
  // Within a minute no further token is requested.
  expect(later.service.paths.filter((path) => path === SIGN_IN)).toHaveLength(2);
});

test('a request that returns 401 is not sent with a token that was renewed while it waited', async () => {
  const service = await aging(token('two'));
  service.answer(SERIALS, { items: [] });
  const slow = {
    serviceClock: service.serviceClock,
    send: async <Result>(sent: ServiceRequest<Result>) => {
      await service.clock.advance(1_000);
      return sent.authorization?.() as Result;
    },
  };
  expect(await withToken(slow, service.tokens).send(request, signal)).toBe('Bearer two');
});
