import { describe, expect, test } from 'vitest';
import type { TokenSource } from '../../../src/sources/portal/token.ts';
import { going, type MockApi, token } from '../../support/mock-api.ts';
import { got, tokensAfter } from '../../support/portal-parts.ts';

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
    api.answer('POST', TOKEN, token('two'));
    expect(new Set(await fifty())).toEqual(new Set(['two']));
    expect(paths(api)).toEqual([`POST ${TOKEN}`, `POST ${TOKEN}`]);
  });
});

describe('a token service in trouble', () => {
  test('leaves a token at hand in use no longer than it lives', async () => {
    const { api, tokens } = tokensAfter(token('one', { expires_in: 10 }), ...TROUBLE, token('two'));
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
    expect(paths(api)).toEqual([`POST ${TOKEN}`, ...Array(7).fill(`POST ${TOKEN}`)]);
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
    api.answer('POST', TOKEN, [status, body, after]);
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
    expect(paths(api)).toEqual([`POST ${TOKEN}`, `POST ${TOKEN}`]);
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
    tokens.reject('one');
    const waiting = got(tokens);
    api.answer('POST', TOKEN, ...TROUBLE.slice(1), token('three'));
    end();
    expect(await api.clock.through(waiting, 500)).toBe('CredentialError');
    await api.clock.advance(PAUSE_MS);
    expect(await got(tokens)).toBe('three');
  });
});

describe('refused credentials', () => {
  test.each([400, 401, 403, 422])(
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
    tokens.reject(await got(tokens));
    api.answer('POST', TOKEN, [401, undefined]);
    await got(tokens);
    await api.clock.advance(5_000);
    api.answer('POST', TOKEN, token('two'));
    expect(await got(tokens)).toBe('two');
  });

  test('that are refused while the token at hand is good end its use', async () => {
    const { api, tokens } = tokensAfter(token('one'));
    await got(tokens);
    await api.clock.advance(3_500_000);
    api.answer('POST', TOKEN, [401, undefined]);
    expect(await got(tokens)).toBe('one');
    expect(await renewed(api, tokens)).toBe('CredentialError');
  });

  test('are told with what to check; a service in trouble or in a hurry is not', async () => {
    const { tokens: refused } = tokensAfter([401, { message: 'Bad key' }]);
    await expect(refused.get(going)).rejects.toThrow(/answered 401: Bad key; check the portal credentials/);
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
