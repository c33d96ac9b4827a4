import { describe, expect, onTestFinished, test } from 'vitest';
import { startMockServices } from '../../../src/demo/mock-services.ts';
import { Secret } from '../../../src/runtime/secret.ts';
import { TokenSource } from '../../../src/services/portal/token.ts';
import { ManualClock } from '../../support/manual-clock.ts';
import { MemoryDispatcher } from '../../support/memory-dispatcher.ts';
import { clientOf, going, type MockApi, type Reply, token } from '../../support/mock-api.ts';
import { got, REFRESH, tokensAfter } from '../../support/portal-parts.ts';

const TOKEN = '/auth/token';

function paths(api: MockApi): readonly string[] {
  return api.sent.map(({ method, path }) => `${method} ${path.replace('/v1', '')}`);
}

/** The token once the renewal under way is over. */
async function renewed(api: MockApi, tokens: TokenSource): Promise<string> {
  await api.clock.advance(0);
  return await got(tokens);
}

/** A service in trouble: the first attempt and both further ones. */
const TROUBLE = [
  [503, undefined],
  [503, undefined],
  [503, undefined],
] as const;

/** After the first failure nothing is sent for so long, in milliseconds. */
const PAUSE_MS = 5_000;

describe('fifty that want a token', () => {
  test('share one request, and one once it has expired', async () => {
    const { api, tokens } = tokensAfter(token('one'));
    const fifty = () => Promise.all(Array.from({ length: 50 }, () => got(tokens)));
    expect(new Set(await fifty())).toEqual(new Set(['one']));
    await api.clock.advance(3_600_000);
    api.answer('POST', REFRESH, token('two'));
    expect(new Set(await fifty())).toEqual(new Set(['two']));
    expect(paths(api)).toEqual([`POST ${TOKEN}`, `POST ${REFRESH}`]);
  });
});

describe('a renewal', () => {
  /** A token that is to be renewed, with 100 seconds left, and what refreshing it is answered. */
  async function refreshing(...replies: readonly Reply[]) {
    const { api, tokens } = tokensAfter(token('one'));
    await got(tokens);
    await api.clock.advance(3_500_000);
    api.answer('POST', REFRESH, ...replies);
    return { api, tokens };
  }

  test('sends the refresh token with the access token, and replaces both without revoking anything', async () => {
    const { api, tokens } = await refreshing(token('two'));
    await got(tokens);
    expect(await renewed(api, tokens)).toBe('two');
    expect(api.sent[1]).toMatchObject({ headers: { authorization: 'Bearer one' }, body: '{"token":"one-refresh"}' });
    await api.clock.advance(3_500_000);
    api.answer('POST', REFRESH, token('three'));
    await got(tokens);
    expect(await renewed(api, tokens)).toBe('three');
    expect(api.sent[2]).toMatchObject({ headers: { authorization: 'Bearer two' }, body: '{"token":"two-refresh"}' });
    await api.clock.advance(60_000);
    await got(tokens);
    expect(paths(api)).toEqual([`POST ${TOKEN}`, `POST ${REFRESH}`, `POST ${REFRESH}`]);
  });

  test.each<[number, unknown]>([
    [401, undefined],
    [422, undefined],
    [200, { access_token: 5 }],
  ])(
    'that is answered %d %j signs in at once, and revokes the family before once no request carries it',
    async (status, body) => {
      const { api, tokens } = await refreshing([status, body]);
      api.answer('POST', TOKEN, token('two'));
      await got(tokens);
      expect(await renewed(api, tokens)).toBe('two');
      await api.clock.advance(29_999);
      expect(paths(api)).toEqual([`POST ${TOKEN}`, `POST ${REFRESH}`, `POST ${TOKEN}`]);
      api.answer('DELETE', TOKEN, [200, {}]);
      await api.clock.advance(1);
      expect(api.sent.at(-1)).toMatchObject({ method: 'DELETE', headers: { authorization: 'Bearer one' } });
      expect(api.sent).toHaveLength(4);
    },
  );

  test.each<[string, Reply]>([
    ['an error of the connection', new Error('reset')],
    ['503', [503, undefined]],
  ])('that meets %s is tried once, and the credentials are sent ten seconds later', async (_, reply) => {
    const { api, tokens } = await refreshing(reply);
    await got(tokens);
    expect(await renewed(api, tokens)).toBe('one');
    await api.clock.advance(9_999);
    expect(await renewed(api, tokens)).toBe('one');
    api.answer('POST', TOKEN, token('two'));
    await api.clock.advance(1);
    await got(tokens);
    expect(await renewed(api, tokens)).toBe('two');
    api.answer('DELETE', TOKEN, [200, {}]);
    await api.clock.advance(30_000);
    expect(api.sent.at(-1)).toMatchObject({ method: 'DELETE', headers: { authorization: 'Bearer one' } });
  });

  test('after a day signs in, so that a key shows that has changed, and then refreshes again', async () => {
    const { api, tokens } = tokensAfter(token('one', { expires_in: 50_000 }));
    await got(tokens);
    api.answer('DELETE', TOKEN, [200, {}], [200, {}]);
    for (const [path, next] of [
      [REFRESH, 'two'],
      [TOKEN, 'three'],
      [REFRESH, 'four'],
    ] as const) {
      await api.clock.advance(49_900_000);
      api.answer('POST', path, token(next, { expires_in: 50_000 }));
      await got(tokens);
      expect(await renewed(api, tokens)).toBe(next);
    }
    // The family of the first day was revoked once it was over; stopping revokes its successor.
    await tokens.revoke(going);
    const revoked = api.sent.filter(({ method }) => method === 'DELETE');
    expect(revoked.map(({ headers }) => headers.authorization)).toEqual(['Bearer two', 'Bearer four']);
  });

  test('after a 401 signs in: the refresh token is dropped with the access token', async () => {
    const { api, tokens } = tokensAfter(token('one'), token('two'));
    tokens.invalidate(await got(tokens));
    expect(await got(tokens)).toBe('two');
    expect(paths(api)).toEqual([`POST ${TOKEN}`, `POST ${TOKEN}`]);
  });
});

test('one family of tokens is alive after ten renewals, after failures of each kind, and none after the end', async () => {
  const clock = new ManualClock();
  const mocks = await startMockServices({ clock, variations: { rateLimit: null, tokenLifetimeMs: 900_000 } });
  onTestFinished(() => mocks.close());
  const client = clientOf(mocks.portalUrl, new MemoryDispatcher(mocks.serve), clock);
  const tokens = new TokenSource(client, { kind: 'user_key', key: Secret.of(mocks.credentials.userKey) }, clock);
  const signIns = () => mocks.requests.filter(({ path, method }) => method === 'POST' && path === TOKEN).length;
  const pass = async (minutes: number) => {
    for (let minute = 0; minute < minutes; minute += 1) {
      await clock.through(got(tokens), 100);
      await clock.advance(60_000);
    }
  };
  await pass(10 * 15);
  expect([signIns(), mocks.tokenFamilies]).toEqual([1, 1]);
  for (const fault of [
    { kind: 'status', status: 503 },
    { kind: 'status', status: 404 },
    { kind: 'reset' },
    { kind: 'body', body: '{}' },
  ] as const) {
    const before = signIns();
    mocks.fail({ operation: 'token', times: 1, ...fault });
    await pass(20);
    expect([fault, signIns() - before, mocks.tokenFamilies]).toEqual([fault, 1, 1]);
  }
  await tokens.revoke(going);
  expect(mocks.tokenFamilies).toBe(0);
});

describe('a token service in trouble', () => {
  test('leaves a token at hand in use no longer than it lives', async () => {
    const { api, tokens } = tokensAfter(token('one', { expires_in: 10 }), token('two'));
    api.answer('POST', REFRESH, [503, undefined]);
    await got(tokens);
    await api.clock.advance(8_000);
    expect(await got(tokens)).toBe('one');
    await api.clock.advance(1_999);
    expect(await got(tokens)).toBe('one');
    await api.clock.advance(1);
    expect(await got(tokens)).toBe('two');
  });

  test('leaves the token at hand in use until it expires, asked again every ten seconds', async () => {
    const { api, tokens } = tokensAfter(token('one'));
    await got(tokens);
    await api.clock.advance(3_500_000);
    api.answer('POST', REFRESH, [503, undefined]);
    expect(await renewed(api, tokens)).toBe('one');
    await api.clock.advance(10_000);
    api.answer('POST', TOKEN, ...TROUBLE, ...TROUBLE, token('two'));
    expect(await got(tokens)).toBe('one');
    // Both further attempts are over after a second and a half.
    await api.clock.advance(1_500);
    expect(await got(tokens)).toBe('one');
    await api.clock.advance(10_000);
    expect(await got(tokens)).toBe('one');
    await api.clock.advance(1_500 + 10_000);
    expect(await got(tokens)).toBe('one');
    expect(await renewed(api, tokens)).toBe('two');
    expect(paths(api)).toEqual([`POST ${TOKEN}`, `POST ${REFRESH}`, ...Array(7).fill(`POST ${TOKEN}`)]);
  });
});

describe('a renewal that hangs', () => {
  /** A token that is to be renewed; the answer to that, a status and a body, comes when it is told to. */
  async function hanging(status: number, body: unknown) {
    const { api, tokens } = tokensAfter(token('one'));
    await got(tokens);
    await api.clock.advance(3_590_000);
    let end = () => {};
    const after = new Promise<void>((resolve) => {
      end = resolve;
    });
    api.answer('POST', REFRESH, [status, body, after]);
    expect(await got(tokens)).toBe('one');
    return { api, tokens, end };
  }

  test('holds nobody up while the token at hand is good, and everybody once it has expired', async () => {
    const { api, tokens, end } = await hanging(200, { access_token: 'two' });
    await api.clock.advance(9_999);
    expect(await got(tokens)).toBe('one');
    await api.clock.advance(1);
    const waiting = got(tokens);
    end();
    expect(await waiting).toBe('two');
    expect(paths(api)).toEqual([`POST ${TOKEN}`, `POST ${REFRESH}`]);
  });

  test('is waited for by who ends the token: the new one is ended', async () => {
    const { api, tokens, end } = await hanging(200, { access_token: 'two' });
    const ending = tokens.revoke(going);
    api.answer('DELETE', TOKEN, [200, {}]);
    end();
    await ending;
    expect(api.sent.at(-1)).toMatchObject({ method: 'DELETE', headers: { authorization: 'Bearer two' } });
  });

  test('does not bring back a token that was answered 401 meanwhile', async () => {
    const { api, tokens, end } = await hanging(503, undefined);
    tokens.invalidate('one');
    const waiting = got(tokens);
    api.answer('POST', TOKEN, ...TROUBLE, token('three'));
    end();
    expect(await api.clock.through(waiting, 500)).toBe('CredentialError');
    await api.clock.advance(PAUSE_MS);
    expect(await got(tokens)).toBe('three');
  });
});

describe('rejected credentials', () => {
  test.each([401, 422])(
    'with %d are not sent again until a pause is over that doubles to five minutes',
    async (status) => {
      const { api, tokens } = tokensAfter();
      for (const pauseMs of [5_000, 10_000, 20_000, 40_000, 80_000, 160_000, 300_000, 300_000]) {
        api.answer('POST', TOKEN, [status, { message: 'no' }]);
        const before = api.sent.length;
        expect(await got(tokens)).toBe('CredentialError');
        await api.clock.advance(pauseMs - 1);
        expect(await got(tokens)).toBe('CredentialError');
        expect(api.sent.length).toBe(before + 1);
        await api.clock.advance(1);
      }
      api.answer('POST', TOKEN, token('one'));
      expect(await got(tokens)).toBe('one');
    },
  );

  test('tell until when nothing is sent, and so does a service in trouble', async () => {
    const { api, tokens } = tokensAfter([401, undefined]);
    const until = api.clock.monotonic() + PAUSE_MS;
    await expect(tokens.get(going)).rejects.toHaveProperty('pausedUntil', until);
    await api.clock.advance(1_000);
    await expect(tokens.get(going)).rejects.toHaveProperty('pausedUntil', until);
    const troubled = tokensAfter(...TROUBLE);
    const failed = troubled.api.clock.through(troubled.tokens.get(going), 500);
    await expect(failed).rejects.toHaveProperty('pausedUntil', 1_500 + 1_000);
  });

  test('pause from the first step again after a success', async () => {
    const { api, tokens } = tokensAfter();
    api.answer('POST', TOKEN, [401, undefined]);
    await got(tokens);
    await api.clock.advance(5_000);
    api.answer('POST', TOKEN, token('one'));
    tokens.invalidate(await got(tokens));
    api.answer('POST', TOKEN, [401, undefined]);
    await got(tokens);
    await api.clock.advance(5_000);
    api.answer('POST', TOKEN, token('two'));
    expect(await got(tokens)).toBe('two');
  });

  test('that are rejected while the token at hand is good end its use', async () => {
    const { api, tokens } = tokensAfter(token('one'));
    await got(tokens);
    await api.clock.advance(3_500_000);
    api.answer('POST', REFRESH, [401, undefined]);
    api.answer('POST', TOKEN, [401, undefined]);
    expect(await got(tokens)).toBe('one');
    expect(await renewed(api, tokens)).toBe('CredentialError');
  });

  test('are told with what the service says of them; so is a service in trouble or in a hurry', async () => {
    const { tokens: refused } = tokensAfter([401, { message: 'Bad key' }]);
    await expect(refused.get(going)).rejects.toThrow(/returned 401: Bad key$/);
    for (const [status, attempts] of [
      [302, 1],
      [404, 1],
      [408, 1],
      [429, 3],
      [500, 2],
      [503, 3],
    ] as const) {
      const failures = Array.from({ length: attempts }, () => [status, undefined] as const);
      const { api, tokens } = tokensAfter(...failures, token('one'));
      const error = await api.clock.through(tokens.get(going).catch(String), 500);
      await api.clock.advance(PAUSE_MS);
      expect(error).toMatch(new RegExp(`CredentialError: getting a token from the portal: .* ${status}$`));
      expect(await got(tokens)).toBe('one');
    }
  });
});
