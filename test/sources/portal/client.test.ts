import { describe, expect, test } from 'vitest';
import { Secret } from '../../../src/runtime/secret.ts';
import { PortalClient } from '../../../src/sources/portal/client.ts';
import { TokenSource } from '../../../src/sources/portal/token.ts';
import type { ApiRequest, JsonClient } from '../../../src/transport/client.ts';
import { going, mockApi, token } from '../../support/mock-api.ts';
import { outcomeOf, portalClient, userKey } from '../../support/portal-parts.ts';

const TOKEN = '/auth/token';
const SERIALS = { method: 'GET', path: '/serials', operation: 'serials' } as const;

test('a request carries the token as a bearer', async () => {
  const api = mockApi();
  api.answer('POST', TOKEN, token('one'));
  api.answer('GET', '/serials', [200, { items: [] }]);
  expect(await portalClient(api).send(SERIALS, going)).toEqual({ items: [] });
  expect(api.sent[1]?.headers.authorization).toBe('Bearer one');
});

test('a request that waited for its turn while the token was renewed goes with the new one', async () => {
  const api = mockApi();
  api.answer('POST', TOKEN, token('one'), token('two'));
  const tokens = new TokenSource(api.client, userKey, api.clock);
  await tokens.get(going);
  await api.clock.advance(3_500_000);
  // A client whose queue takes as long as the renewal that begins with this request.
  const send = async (request: ApiRequest) => {
    await api.clock.advance(1_000);
    return request.authorization?.();
  };
  const portal = new PortalClient({ send } as unknown as JsonClient, tokens, { clock: api.clock, random: () => 0 });
  expect(await portal.send(SERIALS, going)).toBe('Bearer two');
});

test('a 401 is asked once more with a new token, for the key read again from its file', async () => {
  const api = mockApi();
  let version = 0;
  const key = new Secret(() => `key${version}`);
  api.answer('POST', TOKEN, token('one'), token('two'));
  api.answer('GET', '/serials', [200, 1], [401, undefined], [200, 2]);
  const portal = portalClient(api, { kind: 'user_key', key });
  expect(await portal.send(SERIALS, going)).toBe(1);
  version = 1;
  expect(await portal.send(SERIALS, going)).toBe(2);
  expect(api.sent.map(({ headers }) => headers['x-user-key'] ?? headers.authorization)).toEqual([
    'key0',
    'Bearer one',
    'Bearer one',
    'key1',
    'Bearer two',
  ]);
});

test('a 401 with the new token too is a fault of the credentials and is not asked a third time', async () => {
  const api = mockApi();
  api.answer('POST', TOKEN, token('one'), token('two'));
  api.answer('GET', '/serials', [401, undefined], [401, undefined]);
  const error = await outcomeOf(api, portalClient(api).send(SERIALS, going));
  expect(error).toMatchObject({
    name: 'CredentialError',
    message: expect.stringContaining('also with a new token'),
  });
});

test('a 401 with the new token too is about the request alone where the token before was good for others', async () => {
  const api = mockApi();
  api.answer('POST', TOKEN, token('one'), token('two'));
  api.answer('GET', '/serials', [200, {}], [401, undefined], [401, undefined], [200, {}]);
  const portal = portalClient(api);
  await outcomeOf(api, portal.send(SERIALS, going));
  expect(await outcomeOf(api, portal.send(SERIALS, going))).toMatchObject({ name: 'RequestError', status: 401 });
  expect(await outcomeOf(api, portal.send(SERIALS, going))).toEqual({});
});

describe('an appliance that is answered 401 whatever the token', () => {
  const of = (serial: string, name: string) => {
    return { method: 'POST', path: `/telemetry/appliances/${serial}/${name}`, operation: name, json: {} } as const;
  };
  const names = ['cpu', 'memory', 'disk'] as const;

  /** A portal whose appliance `good` has just been answered, and then every request of `bad` with 401. */
  async function refused() {
    const api = mockApi();
    api.answer('POST', TOKEN, token('first'), token('second'));
    api.answer('POST', of('good', 'cpu').path, [200, {}]);
    const portal = portalClient(api);
    await portal.send(of('good', 'cpu'), going);
    // The first is tried again with a new token.
    api.answer('POST', of('bad', 'cpu').path, [401, undefined]);
    for (const name of names) api.answer('POST', of('bad', name).path, [401, undefined]);
    const errors = [];
    for (const name of names) errors.push(await outcomeOf(api, portal.send(of('bad', name), going)));
    return { api, portal, errors };
  }

  test('is never taken for a fault of the credentials, however many of its requests follow each other', async () => {
    const { errors } = await refused();
    for (const error of errors) expect(error).toMatchObject({ name: 'RequestError', status: 401 });
  });

  test('costs at most one new token a minute, and a token that has become no good is replaced', async () => {
    const { api, portal } = await refused();
    expect(api.sent.filter(({ path }) => path === `/v1${TOKEN}`)).toHaveLength(2);
    await api.clock.advance(60_000);
    api.answer('POST', TOKEN, token('third'));
    api.answer('POST', of('good', 'cpu').path, [401, undefined], [200, 'well again']);
    expect(await outcomeOf(api, portal.send(of('good', 'cpu'), going))).toBe('well again');
  });
});

test('a 401 whose new token is refused is a fault of the credentials, and nothing is sent while the pause lasts', async () => {
  const api = mockApi();
  api.answer('POST', TOKEN, token('one'), [401, undefined]);
  api.answer('GET', '/serials', [401, undefined]);
  const portal = portalClient(api);
  expect(await outcomeOf(api, portal.send(SERIALS, going), 0)).toMatchObject({ name: 'CredentialError' });
  expect(await outcomeOf(api, portal.send(SERIALS, going), 0)).toMatchObject({ name: 'CredentialError' });
  expect(api.sent).toHaveLength(3);
});

test('fifty requests answered 401 together get one new token', async () => {
  const api = mockApi();
  api.answer('POST', TOKEN, token('one'), token('two'));
  const fifty = <Thing>(thing: Thing) => Array.from({ length: 50 }, () => thing);
  api.answer('GET', '/serials', ...fifty([401, undefined] as const), ...fifty([200, 'ok'] as const));
  const portal = portalClient(api);
  const answers = await Promise.all(fifty(SERIALS).map((request) => portal.send(request, going)));
  expect(new Set(answers)).toEqual(new Set(['ok']));
  expect(api.sent.filter(({ path }) => path === '/v1/auth/token')).toHaveLength(2);
});

test('a service in trouble is asked twice more', async () => {
  const api = mockApi();
  api.answer('POST', TOKEN, token('one'));
  api.answer('GET', '/serials', [503, undefined], new Error('reset'), [200, 'ok']);
  expect(await outcomeOf(api, portalClient(api).send(SERIALS, going))).toBe('ok');
});
