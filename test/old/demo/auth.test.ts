import { expect, test } from 'vitest';
import type { MockServices } from '../../src/demo/mock-services.ts';
import { ask, type Said, start } from './ask.ts';

const token = (mocks: MockServices, said: Said) => ask('POST', `${mocks.portalUrl}/auth/token`, said);

const withBearer = (mocks: MockServices, access: string) =>
  ask('GET', `${mocks.portalUrl}/serials`, { headers: { authorization: `Bearer ${access}` } });

const form = (fields: Record<string, string>): Said => ({
  headers: { 'content-type': 'application/x-www-form-urlencoded' },
  body: new URLSearchParams(fields).toString(),
});

test('each of the three forms gives a token that opens the inventory', async () => {
  const { mocks } = await start();
  const { serviceKey, serviceSecret, userKey } = mocks.credentials;
  const serviceHeaders = { 'x-service-key': serviceKey, 'x-service-secret': serviceSecret };
  const said: Said[] = [
    { headers: serviceHeaders },
    { headers: { ...serviceHeaders, 'content-type': 'application/json' }, body: '{}' },
    { headers: { 'x-user-key': userKey } },
    form({ grant_type: 'client_credentials', client_id: serviceKey, client_secret: serviceSecret }),
  ];
  for (const one of said) {
    const heard = await token(mocks, one);
    expect(heard.status).toBe(200);
    const { access_token, token_type } = heard.json as Record<string, unknown>;
    expect(token_type).toBe('bearer');
    expect((await withBearer(mocks, String(access_token))).status).toBe(200);
  }
});

test('a token is refreshed once by each refresh token, and one that comes again ends all that came of signing in', async () => {
  const { mocks } = await start();
  const first = await token(mocks, { headers: { 'x-user-key': mocks.credentials.userKey } });
  const refreshed = (pair: unknown) => {
    const { access_token, refresh_token } = pair as Record<string, unknown>;
    const headers = { authorization: `Bearer ${access_token}`, 'content-type': 'application/json' };
    return ask('POST', `${mocks.portalUrl}/auth/token/refresh`, {
      headers,
      body: JSON.stringify({ token: refresh_token }),
    });
  };
  const second = await refreshed(first.json);
  expect([second.status, mocks.tokenFamilies]).toEqual([200, 1]);
  const { access_token } = second.json as Record<string, unknown>;
  expect((await withBearer(mocks, String(access_token))).status).toBe(200);
  expect((await refreshed(first.json)).status).toBe(401);
  expect((await refreshed(second.json)).status).toBe(401);
  expect((await withBearer(mocks, String(access_token))).status).toBe(401);
  expect(mocks.tokenFamilies).toBe(0);
  expect((await ask('POST', `${mocks.portalUrl}/auth/token/refresh`, { body: '{}' })).status).toBe(422);
});

const UUID = '00000000-0000-4000-8000-000000000000';

test.each<[string, number, (credentials: MockServices['credentials']) => Said]>([
  ['no form', 400, () => ({})],
  [
    'two forms',
    400,
    ({ userKey, serviceKey: key, serviceSecret: secret }) => ({
      headers: { 'x-user-key': userKey, 'x-service-key': key, 'x-service-secret': secret },
    }),
  ],
  ['half a form', 400, ({ serviceKey }) => ({ headers: { 'x-service-key': serviceKey } })],
  ['a body beside a user key', 400, ({ userKey }) => ({ headers: { 'x-user-key': userKey }, body: '{"a":1}' })],
  [
    'a wrong service secret',
    401,
    ({ serviceKey }) => ({ headers: { 'x-service-key': serviceKey, 'x-service-secret': UUID } }),
  ],
  ['a wrong user key', 401, () => ({ headers: { 'x-user-key': 'nobody' } })],
  ['a wrong client', 401, () => form({ grant_type: 'client_credentials', client_id: 'nobody', client_secret: UUID })],
])('%s is %d', async (_, status, said) => {
  const { mocks } = await start();
  const heard = await token(mocks, said(mocks.credentials));
  expect(heard.status).toBe(status);
  if (status === 401) expect(heard.json).toEqual({ message: 'Invalid credentials', detail: null });
});

test('a form with faulty fields is 422, and the response names them', async () => {
  const { mocks } = await start();
  const faulty = await token(mocks, form({ grant_type: 'password', client_secret: 'no uuid' }));
  expect(faulty.status).toBe(422);
  const { detail } = faulty.json as { detail: { loc: string[] }[] };
  expect(new Set(detail.map(({ loc }) => loc.join('.')))).toEqual(
    new Set(['body.client_id', 'body.client_secret', 'body.grant_type']),
  );
});
