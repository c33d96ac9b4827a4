import { expect, test } from 'vitest';
import type { StandIn } from '../../src/demo/stand-in.ts';
import { MINUTE_MS } from '../../src/demo/world/signals.ts';
import { ask, type Said, signIn, start } from './ask.ts';

const token = (standIn: StandIn, said: Said) => ask('POST', `${standIn.portalUrl}/auth/token`, said);

const withBearer = (standIn: StandIn, access: string) =>
  ask('GET', `${standIn.portalUrl}/serials`, { headers: { authorization: `Bearer ${access}` } });

const form = (fields: Record<string, string>): Said => ({
  headers: { 'content-type': 'application/x-www-form-urlencoded' },
  body: new URLSearchParams(fields).toString(),
});

test('each of the three forms gives a token that opens the inventory', async () => {
  const { standIn } = await start();
  const { serviceKey, serviceSecret, userKey } = standIn.credentials;
  const serviceHeaders = { 'x-service-key': serviceKey, 'x-service-secret': serviceSecret };
  const said: Said[] = [
    { headers: serviceHeaders },
    { headers: { ...serviceHeaders, 'content-type': 'application/json' }, body: '{}' },
    { headers: { 'x-user-key': userKey } },
    form({ grant_type: 'client_credentials', client_id: serviceKey, client_secret: serviceSecret }),
  ];
  for (const one of said) {
    const heard = await token(standIn, one);
    expect(heard.status).toBe(200);
    const { access_token, token_type } = heard.json as Record<string, unknown>;
    expect(token_type).toBe('bearer');
    expect((await withBearer(standIn, String(access_token))).status).toBe(200);
  }
});

test('wrong credentials are 401 in every form', async () => {
  const { standIn } = await start();
  const uuid = '00000000-0000-4000-8000-000000000000';
  const said: Said[] = [
    { headers: { 'x-service-key': standIn.credentials.serviceKey, 'x-service-secret': uuid } },
    { headers: { 'x-user-key': 'nobody' } },
    form({ grant_type: 'client_credentials', client_id: 'nobody', client_secret: uuid }),
  ];
  for (const one of said) {
    const heard = await token(standIn, one);
    expect(heard.status).toBe(401);
    expect(heard.json).toEqual({ message: 'Invalid credentials', detail: null });
  }
});

test('no form, two forms or half a form is 400, and a form with faulty fields is 422', async () => {
  const { standIn } = await start();
  const { serviceKey, serviceSecret, userKey } = standIn.credentials;
  const both = { 'x-user-key': userKey, 'x-service-key': serviceKey, 'x-service-secret': serviceSecret };
  expect((await token(standIn, {})).status).toBe(400);
  expect((await token(standIn, { headers: both })).status).toBe(400);
  expect((await token(standIn, { headers: { 'x-service-key': serviceKey } })).status).toBe(400);
  expect((await token(standIn, { headers: { 'x-user-key': userKey }, body: '{"a":1}' })).status).toBe(400);

  const faulty = await token(standIn, form({ grant_type: 'password', client_secret: 'no uuid' }));
  expect(faulty.status).toBe(422);
  const { detail } = faulty.json as { detail: { loc: string[] }[] };
  expect(new Set(detail.map(({ loc }) => loc.join('.')))).toEqual(
    new Set(['body.client_id', 'body.client_secret', 'body.grant_type']),
  );
});

test('the token is a JWT whose exp tells when it stops working', async () => {
  const { standIn, clock } = await start({ variations: { tokenLifetimeMs: 10 * MINUTE_MS } });
  const { access, answer } = await signIn(standIn);
  expect(answer.expires_in).toBeNull();
  const claims = JSON.parse(Buffer.from(access.split('.')[1] ?? '', 'base64url').toString());
  expect(claims).toMatchObject({ iat: clock.now() / 1000, exp: clock.now() / 1000 + 600 });
  await clock.advance(10 * MINUTE_MS - 1);
  expect((await withBearer(standIn, access)).status).toBe(200);
  await clock.advance(1);
  const late = await withBearer(standIn, access);
  expect(late.status).toBe(401);
  expect(late.json).toEqual({ message: 'Invalid or expired token', detail: null });
});

test('the token can be opaque, and the lifetime can be told in seconds or not at all', async () => {
  const { standIn } = await start({ variations: { jwt: 'none', expiresIn: 900 } });
  const { access, answer } = await signIn(standIn);
  expect(access).not.toContain('.');
  expect(answer.expires_in).toBe(900);
  standIn.vary({ omitOptional: true });
  expect(Object.keys((await signIn(standIn)).answer)).toEqual(['access_token', 'refresh_token']);
});

test('revoking a token ends it and no other', async () => {
  const { standIn } = await start();
  const one = await signIn(standIn);
  const other = await signIn(standIn);
  const revoke = () =>
    ask('DELETE', `${standIn.portalUrl}/auth/token`, { headers: { authorization: `Bearer ${one.access}` } });
  expect(await revoke()).toMatchObject({ status: 200, json: {} });
  expect((await revoke()).status).toBe(401);
  expect((await withBearer(standIn, one.access)).status).toBe(401);
  expect((await withBearer(standIn, other.access)).status).toBe(200);
});

test('the telemetry service wants its key as issued, without a scheme, and says nothing in its 401', async () => {
  const { standIn } = await start();
  const { gfaToken } = standIn.credentials;
  for (const headers of [{}, { authorization: `Bearer ${gfaToken}` }, { authorization: 'wrong' }]) {
    expect(await ask('GET', `${standIn.gfaUrl}/data`, { headers })).toMatchObject({ status: 401, text: '' });
  }
  expect((await ask('GET', `${standIn.gfaUrl}/data`, { headers: { authorization: gfaToken } })).status).toBe(200);
});
