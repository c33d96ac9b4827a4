import { expect, test } from 'vitest';
import { Secret } from '../../../src/runtime/secret.ts';
import { PortalClient } from '../../../src/services/portal/client.ts';
import { TokenSource } from '../../../src/services/portal/token.ts';
import type { JsonClient, ServiceRequest } from '../../../src/transport/json-client.ts';
import { going, mockApi, type Reply, token } from '../../support/mock-api.ts';
import { outcomeOf, portalClient, REFRESH, userKey } from '../../support/portal-parts.ts';

const TOKEN = '/auth/token';
const SERIALS = { method: 'GET', path: '/serials', operation: 'serials' } as const;

/** A portal whose token service answers so; `ask` tells the answer or the error. */
function portalOf(...tokens: readonly Reply[]) {
  const api = mockApi();
  api.answer('POST', TOKEN, ...tokens);
  const portal = portalClient(api);
  return {
    api,
    ask: (request: ServiceRequest = SERIALS, ms = 10_000) => outcomeOf(api, portal.send(request, going), ms),
  };
}

test('a request that waited for its turn while the token was renewed goes with the new one', async () => {
  const api = mockApi();
  api.answer('POST', TOKEN, token('one'));
  api.answer('POST', REFRESH, token('two'));
  const tokens = new TokenSource(api.client, userKey, api.clock);
  await tokens.get(going);
  await api.clock.advance(3_500_000);
  // A client whose queue takes as long as the renewal that begins with this request.
  const send = async (request: ServiceRequest) => {
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
  const { api, ask } = portalOf(token('one'), token('two'));
  api.answer('GET', '/serials', [401, undefined], [401, undefined]);
  expect(await ask()).toMatchObject({
    name: 'CredentialError',
    message: expect.stringContaining('also with a new token'),
  });
});

test('an appliance whose requests return 401 with every token is no fault of the credentials, and costs one a minute', async () => {
  const of = (serial: string, name: string) => {
    return { method: 'POST', path: `/telemetry/appliances/${serial}/${name}`, operation: name, json: {} } as const;
  };
  const { api, ask } = portalOf(token('first'), token('second'));
  api.answer('POST', of('good', 'cpu').path, [200, {}]);
  await ask(of('good', 'cpu'));
  // The first is tried again with a new token.
  api.answer('POST', of('bad', 'cpu').path, [401, undefined]);
  for (const name of ['cpu', 'memory', 'disk']) {
    api.answer('POST', of('bad', name).path, [401, undefined]);
    expect(await ask(of('bad', name))).toMatchObject({ name: 'RequestError', status: 401 });
  }
  expect(api.sent.filter(({ path }) => path === `/v1${TOKEN}`)).toHaveLength(2);
  await api.clock.advance(60_000);
  api.answer('POST', TOKEN, token('third'));
  api.answer('POST', of('good', 'cpu').path, [401, undefined], [200, 'well again']);
  expect(await ask(of('good', 'cpu'))).toBe('well again');
});

test('a 401 whose new token is rejected is a fault of the credentials, and nothing is sent while the pause lasts', async () => {
  const { api, ask } = portalOf(token('one'), [401, undefined]);
  api.answer('GET', '/serials', [401, undefined]);
  for (let time = 0; time < 2; time += 1) expect(await ask(SERIALS, 0)).toMatchObject({ name: 'CredentialError' });
  expect(api.sent).toHaveLength(3);
});

test('fifty requests answered 401 together get one new token', async () => {
  const { api, ask } = portalOf(token('one'), token('two'));
  const fifty = <Thing>(thing: Thing) => Array.from({ length: 50 }, () => thing);
  api.answer('GET', '/serials', ...fifty([401, undefined] as const), ...fifty([200, 'ok'] as const));
  expect(new Set(await Promise.all(fifty(SERIALS).map((request) => ask(request))))).toEqual(new Set(['ok']));
  expect(api.sent.filter(({ path }) => path === '/v1/auth/token')).toHaveLength(2);
});

test('a service in trouble is asked twice more', async () => {
  const { api, ask } = portalOf(token('one'));
  api.answer('GET', '/serials', [503, undefined], new Error('reset'), [200, 'ok']);
  expect(await ask()).toBe('ok');
});
