import { describe, expect, test } from 'vitest';
import { Secret } from '../../../src/runtime/secret.ts';
import { type Credentials, lifetimeOf, TokenSource } from '../../../src/services/portal/token.ts';
import { going, mockApi, token } from '../../support/mock-api.ts';
import { got, jwt, REFRESH, tokensAfter, userKey } from '../../support/portal-parts.ts';

const TOKEN = '/auth/token';

describe('credentials on the wire', () => {
  const key = Secret.of('key+with/odd chars&');
  const secret = Secret.of('sec=ret');

  const form = 'grant_type=client_credentials&client_id=key%2Bwith%2Fodd+chars%26&client_secret=sec%3Dret';
  const json = { 'content-type': 'application/json' };
  const usual = { accept: 'application/json', 'accept-encoding': 'gzip', 'user-agent': 'filer-exporter/test' };

  test.each<[string, Credentials, string, Readonly<Record<string, string>>]>([
    [
      'of OAuth 2.0 are a form and nothing in the headers',
      { kind: 'oauth2', key, secret },
      form,
      { 'content-type': 'application/x-www-form-urlencoded' },
    ],
    [
      'of a service key are two headers and an empty object',
      { kind: 'service_key', key, secret },
      '{}',
      { ...json, 'x-service-key': 'key+with/odd chars&', 'x-service-secret': 'sec=ret' },
    ],
    ['of a user key are one header and an empty object', userKey, '{}', { ...json, 'x-user-key': 'the-user-key' }],
  ])('%s', async (_, credentials, body, own) => {
    const api = mockApi();
    api.answer('POST', TOKEN, token('t'));
    await new TokenSource(api.client, credentials, api.clock).get(going);
    expect(api.sent).toEqual([{ method: 'POST', path: '/v1/auth/token', body, headers: { ...usual, ...own } }]);
  });
});

describe('the life of a token', () => {
  const now = 1_000_000_000;
  test.each([
    ['expires_in', 900, jwt({ exp: 5000, iat: 0 }), 900],
    ['expires_in as text', '900', 'opaque', 900],
    ['exp less iat, whatever the clock says', null, jwt({ exp: 5000, iat: 1400 }), 3600],
    ['exp less now where there is no iat', undefined, jwt({ exp: 1_000_600 }), 600],
    ['exp less iat where expires_in is nothing', 0, jwt({ exp: 100, iat: 40 }), 60],
    ['exp less iat where expires_in is no number', 'soon', jwt({ exp: 100, iat: 40 }), 60],
    ['five minutes where exp is over', null, jwt({ exp: 10 }), 300],
    ['five minutes for an opaque token', null, 'opaque', 300],
    ['five minutes for a damaged JWT', null, 'a.%%%.c', 300],
  ])('is %s', (_, expiresIn, access, seconds) => {
    expect(lifetimeOf({ access, expiresIn }, now).seconds).toBe(seconds);
  });

  test.each([
    ['a week', { expires_in: 604_800 }],
    // Found by chance: the difference of the two overflows.
    [
      'exp less iat, more than a number holds',
      { access_token: jwt({ exp: 1.7e308, iat: -1.7e308 }), expires_in: null },
    ],
  ])('is a day where it is longer: %s', async (_, body) => {
    const { tokens } = tokensAfter(token('one', body));
    await tokens.get(going);
    expect(tokens.remainingSeconds).toBe(86_400);
  });

  test.each([
    ['an hour, less two minutes', 3600, 3480],
    ['five minutes, less a fifth', 300, 240],
  ])('is used for %s', async (_, expires_in, usedFor) => {
    const { api, tokens } = tokensAfter(token('one', { expires_in }));
    await tokens.get(going);
    expect(tokens.remainingSeconds).toBe(expires_in);
    await api.clock.advance(usedFor * 1000 - 1);
    expect(await tokens.get(going)).toBe('one');
    await api.clock.advance(1);
    api.answer('POST', REFRESH, token('two'));
    await tokens.get(going);
    await api.clock.advance(0);
    expect(await tokens.get(going)).toBe('two');
    expect(tokens.remainingSeconds).toBe(3600);
  });
});

test('one 503 fails no request for a token, even after an outage that used up all retries', async () => {
  const { api, tokens } = tokensAfter([503, undefined]);
  for (let hour = 0; hour < 24; hour += 1) {
    const ended = got(tokens);
    await api.clock.advance(3_600_000);
    expect(await ended).toBe('CredentialError');
  }
  api.answer('POST', TOKEN, token('one'));
  expect(await got(tokens)).toBe('one');
  tokens.invalidate('one');
  api.answer('POST', TOKEN, [503, undefined], token('two'));
  const again = got(tokens);
  await api.clock.advance(60_000);
  expect(await again).toBe('two');
});

test.each([
  ['a list', []],
  ['no access token', { refresh_token: 'x' }],
  ['a number for a token', { access_token: 5 }],
  ['line breaks in the token', { access_token: 'a\r\nx-evil: 1' }],
])('an answer with %s is no token', async (_, body) => {
  const { tokens } = tokensAfter([200, body]);
  expect(await got(tokens)).toBe('CredentialError');
  expect(tokens.remainingSeconds).toBeUndefined();
});

describe('giving the token back', () => {
  test('ends it with its own bearer, once', async () => {
    const { api, tokens } = tokensAfter(token('one'));
    api.answer('DELETE', TOKEN, [200, {}]);
    await tokens.get(going);
    await tokens.revoke(going);
    expect(api.sent[1]).toMatchObject({ method: 'DELETE', headers: { authorization: 'Bearer one' } });
    await tokens.revoke(going);
    expect(api.sent).toHaveLength(2);
    expect(tokens.remainingSeconds).toBeUndefined();
  });

  test.each([
    ['refused', [401, undefined]],
    ['not answered', new Error('reset')],
  ] as const)('is no failure when %s', async (_, reply) => {
    const { api, tokens } = tokensAfter(token('one'));
    api.answer('DELETE', TOKEN, reply);
    await tokens.get(going);
    await expect(tokens.revoke(going)).resolves.toBeUndefined();
  });
});
