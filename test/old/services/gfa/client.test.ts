import { describe, expect, test } from 'vitest';
import { Secret } from '../../../src/runtime/secret.ts';
import { GfaClient, type GfaClientSettings } from '../../../src/services/gfa/client.ts';
import { going, type MockApi, mockApi } from '../../support/mock-api.ts';

/** The least that is an answer. */
const ANSWER = { info: {}, metrics: {} };

const KEY = 'ad0c9a7f-0000-4000-8000-000000000001';

function client(api: MockApi, more: Partial<GfaClientSettings> = {}): GfaClient {
  const settings: GfaClientSettings = {
    token: Secret.of(KEY),
    clientKey: 'filer-exporter',
    clientKeyHeader: 'X-Service-client-key',
    groups: ['filers', 'volumes', 'locks', 'propagation'],
    ...more,
  };
  return new GfaClient(api.client, settings, { clock: api.clock, random: () => 0 });
}

/** Asks, and lets time pass for whatever waits. */
async function asked(api: MockApi, more: Partial<GfaClientSettings> = {}): Promise<unknown> {
  const answer = client(api, more)
    .data(going)
    .catch((error: unknown) => error);
  for (let round = 0; round < 10; round += 1) await api.clock.advance(1_000);
  return answer;
}

/** A secret file that is rotated each time it is read. */
function rotated(...values: readonly string[]): Secret {
  let reads = -1;
  return new Secret(() => {
    reads += 1;
    return values[Math.min(reads, values.length - 1)] ?? '';
  });
}

describe('a request', () => {
  test('carries the key as it was issued and the client key in the header configured', async () => {
    const api = mockApi();
    api.answer('GET', '/data', [200, ANSWER]);
    expect(await asked(api, { clientKeyHeader: 'X-Nasuni-client-key', clientKey: 'two' })).toEqual(ANSWER);
    expect(api.sent[0]?.headers).toMatchObject({ authorization: KEY, 'X-Nasuni-client-key': 'two' });
    expect(api.sent[0]?.headers).not.toHaveProperty('X-Service-client-key');
    expect(api.sent[0]?.body).toBe('');
  });

  test('switches on the groups that are asked for and the others off', async () => {
    const api = mockApi();
    api.answer('GET', '/data', [200, {}], [200, {}]);
    await asked(api);
    await asked(api, { groups: ['locks'] });
    expect(api.sent.map(({ path }) => Object.fromEntries(new URL(path, 'http://x').searchParams))).toEqual([
      { filer_metrics: 'true', volume_metrics: 'true', lock_metrics: 'true', propagation_metrics: 'true' },
      { filer_metrics: 'false', volume_metrics: 'false', lock_metrics: 'true', propagation_metrics: 'false' },
    ]);
  });
});

describe('a rejected key', () => {
  test.each([401, 403])('with %d is read again from its file, and tried once when it has changed', async (status) => {
    const api = mockApi();
    api.answer('GET', '/data', [status, undefined], [200, ANSWER]);
    expect(await asked(api, { token: rotated('old', 'new') })).toEqual(ANSWER);
    expect(api.sent.map(({ headers }) => headers.authorization)).toEqual(['old', 'new']);
  });

  test('that has not changed is not tried again', async () => {
    const api = mockApi();
    api.answer('GET', '/data', [401, undefined]);
    expect(await asked(api)).toMatchObject({ name: 'RequestError', status: 401 });
    expect(api.sent).toHaveLength(1);
  });

  test('is tried once with the new key and not with a third', async () => {
    const api = mockApi();
    api.answer('GET', '/data', [401, undefined], [401, undefined]);
    expect(await asked(api, { token: rotated('old', 'new', 'newer') })).toMatchObject({ status: 401 });
    expect(api.sent).toHaveLength(2);
  });
});

test('an answer that may have moved the bookmark is asked for once more, and not a third time', async () => {
  const api = mockApi();
  api.answer('GET', '/data', [503, undefined], [200, ANSWER], [503, undefined], [503, undefined]);
  expect(await asked(api)).toEqual(ANSWER);
  expect(await asked(api)).toMatchObject({ status: 503 });
});
