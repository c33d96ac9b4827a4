import type { Dispatcher } from 'undici';
import { describe, expect, test } from 'vitest';
import { ForbiddenRequestError, RequestError, SchemaError } from '../../src/runtime/errors.ts';
import type { ServiceRequest } from '../../src/transport/json-client.ts';
import { settle } from '../support/manual-clock.ts';
import { bench, listing, mocked, onwards } from './polite.ts';

describe('a request', () => {
  test('goes below the base URL, says who asks, and gives the parsed body', async () => {
    const { client, api, ears, pacer } = mocked();
    const headers = { accept: 'application/json', 'accept-encoding': 'gzip', 'user-agent': 'filer-exporter/test' };
    api.intercept({ path: '/v1/serials?type=edge&in_use=true', method: 'GET', headers }).reply(200, { items: [1] });
    const query = { type: 'edge', in_use: 'true' };
    expect(await client.send({ ...listing, query }, onwards)).toEqual({ items: [1] });
    expect(ears.ends).toEqual([{ operation: 'serials', code: '200', seconds: 0 }]);
    expect([ears.inFlight, ears.refusals, pacer.told]).toEqual([0, 0, [{ state: 'accepted' }]]);
  });

  test.each<[string, Partial<ServiceRequest>, string, string]>([
    ['JSON', { json: { period: 'PT15M' } }, 'application/json', '{"period":"PT15M"}'],
    ['a form', { form: { client_id: 'a b', x: '&' } }, 'application/x-www-form-urlencoded', 'client_id=a+b&x=%26'],
  ])('carries %s with its type', async (_, payload, type, body) => {
    const { client, api } = mocked();
    api.intercept({ path: '/v1/auth/token', method: 'POST', body, headers: { 'content-type': type } }).reply(200, {});
    await client.send({ method: 'POST', path: '/auth/token', operation: 'token', ...payload }, onwards);
  });

  test('that must never be sent is neither sent nor counted', () => {
    const { client, ears } = mocked();
    const send = () => client.send({ method: 'DELETE', path: '/edges', operation: 'edges' }, onwards);
    expect(send).toThrow(ForbiddenRequestError);
    expect(ears.starts).toBe(0);
  });

  test('waits its turn when as many as allowed are on their way', async () => {
    const { client, api, ears } = mocked();
    api.intercept({ path: '/v1/serials' }).reply(200, []).times(5);
    const answers = Array.from({ length: 5 }, () => client.send(listing, onwards));
    await settle();
    expect(ears.inFlight).toBeLessThanOrEqual(2);
    await Promise.all(answers);
    expect([ears.starts, ears.inFlight]).toEqual([5, 0]);
  });
});

describe('an answer with another status', () => {
  test.each([[301], [304], [400], [500]])('%d is told and counted under its number', async (status) => {
    const { api, ears, failure } = mocked();
    api.intercept({ path: '/v1/serials' }).reply(status, '', { headers: { location: 'https://elsewhere.test/' } });
    const error = await failure();
    expect(error).toMatchObject({ reason: 'status', status, code: String(status) });
    expect(error.message).toBe(`GET /serials returned ${status}`);
    expect([ears.codes, ears.inFlight, ears.refusals]).toEqual([[String(status)], 0, 0]);
  });

  test.each<[string, Readonly<Record<string, string>>, number | undefined]>([
    ['with Retry-After', { 'retry-after': '7' }, 7_000],
    ['with a date', { 'retry-after': 'Mon, 02 Mar 2026 11:00:30 GMT', date: 'Mon, 02 Mar 2026 11:00:00 GMT' }, 30_000],
    ['without', {}, undefined],
    ['with nonsense', { 'retry-after': 'later' }, undefined],
  ])('429 %s holds up the API and counts as a refusal', async (_, headers, retryAfterMs) => {
    const { api, ears, pacer, failure } = mocked();
    api.intercept({ path: '/v1/serials' }).reply(429, { message: 'Too many requests' }, { headers });
    expect((await failure()).code).toBe('429');
    expect([ears.refusals, ears.codes, pacer.told]).toEqual([1, ['429'], [{ state: 'throttled', retryAfterMs }]]);
  });

  test('503 with Retry-After is no rejection: only the request failed', async () => {
    const { api, ears, pacer, failure } = mocked();
    api.intercept({ path: '/v1/serials' }).reply(503, '', { headers: { 'retry-after': '7' } });
    await failure();
    expect([ears.refusals, pacer.told]).toEqual([0, [{ state: 'accepted' }]]);
  });
});

test('an answer of another shape is told as such, and counts as invalid', async () => {
  const { client, ears, api } = mocked();
  api.intercept({ path: '/v1/serials' }).reply(200, '[]');
  const check = () => {
    throw new SchemaError('expected an object');
  };
  await expect(client.send({ ...listing, validate: check }, onwards)).rejects.toThrow(
    new SchemaError('expected an object'),
  );
  expect([ears.codes, ears.inFlight]).toEqual([['invalid'], 0]);
});

describe('the service’s own words', () => {
  const long = 'a word and '.repeat(100);
  test.each<[string, string, string]>([
    ['message and detail: the message', '{"message":"No such appliance","detail":null}', ': No such appliance'],
    ['a validation error: not what it echoes', '{"message":"Bad","detail":[{"input":"hunter2"}]}', ': Bad'],
    ['the telemetry service’s error', '{"error":"internal"}', ': internal'],
    ['several lines become one', '{"message":"one\\n\\ttwo\\r\\nthree"}', ': one two three'],
    ['a long one is cut', JSON.stringify({ message: long }), `: ${long.slice(0, 200)}`],
    ['message that is no text', '{"message":{"a":1}}', ''],
    ['message of null beside an error', '{"message":null,"error":"internal"}', ': internal'],
    ['detail alone', '{"detail":"Not authenticated"}', ''],
    ['a list', '[{"message":"in a list"}]', ''],
    ['a prototype that is none', '{"__proto__":{"message":"inherited"}}', ''],
    ['HTML of a gateway', '<html><h1>502 Bad Gateway</h1></html>', ''],
    ['nothing', '', ''],
  ])('%s', async (_, body, words) => {
    const { api, ears, failure } = mocked();
    api.intercept({ path: '/v1/serials' }).reply(422, body);
    expect((await failure()).message).toBe(`GET /serials returned 422${words}`);
    expect([ears.codes, ears.inFlight]).toEqual([['422'], 0]);
  });

  test('never show the half of a token that the cut would leave', async () => {
    const { api, failure } = mocked();
    const token = 'eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.c2lnbmF0dXJl';
    api.intercept({ path: '/v1/serials' }).reply(401, { message: `${'word '.repeat(38)}${token}` });
    expect((await failure()).message).toBe(`GET /serials returned 401: ${'word '.repeat(38)}[…]`);
  });
});

describe('no answer', () => {
  test('a connection that fails is told by its code', async () => {
    const { api, ears, pacer, failure } = mocked();
    const cause = Object.assign(new Error('connect ECONNREFUSED 127.0.0.1:1'), { code: 'ECONNREFUSED' });
    api.intercept({ path: '/v1/serials' }).replyWithError(cause);
    const error = await failure();
    expect([error.message, error.code, error.status]).toEqual([
      'GET /serials got no response: ECONNREFUSED',
      'network',
      undefined,
    ]);
    expect(error.cause).toBe(cause);
    expect([ears.codes, ears.inFlight, pacer.told]).toEqual([['network'], 0, [{ state: 'unknown' }]]);
  });

  test('stopping while it waits for its turn sends and counts nothing', async () => {
    const { pacer, ears, failure } = mocked();
    pacer.holds = true;
    const stopping = new AbortController();
    const error = failure({}, stopping.signal);
    await settle();
    stopping.abort();
    expect(await error).toMatchObject({
      code: 'aborted',
      message: 'GET /serials was not sent: the exporter is stopping',
    });
    expect([ears.starts, ears.ends, pacer.told]).toEqual([0, [], []]);
  });

  test('stopping in the moment of its turn gives it up too', async () => {
    const { client, pacer, api } = mocked();
    api.intercept({ path: '/v1/serials' }).reply(200, {}).delay(60_000);
    const stopping = new AbortController();
    pacer.acquire = () => {
      stopping.abort();
      return Promise.resolve({});
    };
    await expect(client.send(listing, stopping.signal)).rejects.toThrow(
      'GET /serials was aborted: the exporter is stopping',
    );
  });

  test('whatever goes wrong is a RequestError', async () => {
    const defect = () => {
      throw new TypeError('a defect');
    };
    const { failure } = bench('https://portal.test', { request: defect } as unknown as Dispatcher);
    expect(await failure()).toBeInstanceOf(RequestError);
  });
});
