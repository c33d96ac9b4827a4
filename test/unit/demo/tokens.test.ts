import { expect, test } from 'vitest';
import { credentials, startServices } from './ask.ts';

const { serviceKey, serviceSecret, userKey } = credentials;
const FORM = { 'content-type': 'application/x-www-form-urlencoded' };
const formBody = (fields: Readonly<Record<string, string>>) => new URLSearchParams(fields).toString();
const userSignIn = { method: 'POST', path: '/auth/token', headers: { 'x-user-key': userKey } };

test.each([
  ['service key headers', { headers: { 'x-service-key': serviceKey, 'x-service-secret': serviceSecret }, body: '{}' }],
  ['a user key header', { headers: { 'x-user-key': userKey } }],
  [
    'a form',
    {
      headers: FORM,
      body: formBody({ grant_type: 'client_credentials', client_id: serviceKey, client_secret: serviceSecret }),
    },
  ],
])('signing in with %s gives a token that opens the inventory', (_, request) => {
  const { ask } = startServices();
  const { status, json } = ask('portal', { method: 'POST', path: '/auth/token', ...request });
  expect([status, json.token_type]).toEqual([200, 'bearer']);
  const headers = { authorization: `Bearer ${json.access_token}` };
  expect(ask('portal', { path: '/serials', headers }).status).toBe(200);
});

test('a refresh token works once, and using it again ends all tokens that came of signing in', () => {
  const { ask, clock, services } = startServices();
  const refresh = ({ access_token, refresh_token }: Readonly<Record<string, string>>) => {
    const headers = { authorization: `Bearer ${access_token}` };
    const body = JSON.stringify({ token: refresh_token });
    return ask('portal', { method: 'POST', path: '/auth/token/refresh', headers, body });
  };
  const first = ask('portal', userSignIn).json;
  const second = refresh(first);
  expect([second.status, services.portal.tokens.alive(clock.now())]).toEqual([200, 1]);
  expect([refresh(first).status, refresh(second.json).status]).toEqual([401, 401]);
  expect(services.portal.tokens.alive(clock.now())).toBe(0);
});

test('a token ends with its lifetime, and when it is revoked', async () => {
  const { ask, clock } = startServices({ tokenLifetimeMs: 60_000 });
  const statusOf = (token: string) =>
    ask('portal', { path: '/jobs', headers: { authorization: `Bearer ${token}` } }).status;
  const expiring = ask('portal', userSignIn).json.access_token;
  expect(statusOf(expiring)).toBe(200);
  await clock.advance(60_000);
  expect(statusOf(expiring)).toBe(401);
  const revoked = ask('portal', userSignIn).json.access_token;
  ask('portal', { method: 'DELETE', path: '/auth/token', headers: { authorization: `Bearer ${revoked}` } });
  expect(statusOf(revoked)).toBe(401);
});
