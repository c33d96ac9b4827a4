import { expect, test } from 'vitest';
import { ForbiddenRequestError, SchemaError } from '../../../src/runtime/errors.ts';
import type { ServiceRequest } from '../../../src/transport/json-client.ts';
import { listing, running, served } from './served.ts';

/** A service that always sends this response. */
function responding(status: number, body = '', headers: Readonly<Record<string, string>> = {}) {
  return served((_, response) => void response.writeHead(status, headers).end(body));
}

test.each<[string, Partial<ServiceRequest>, string]>([
  ['nothing', {}, 'undefined '],
  ['JSON', { json: { period: 'PT15M' } }, 'application/json {"period":"PT15M"}'],
  ['a form', { form: { id: 'a b', x: '&' } }, 'application/x-www-form-urlencoded id=a+b&x=%26'],
])('a request with %s goes below the base URL, and says who sends it', async (_, payload, sent) => {
  const { client, exchanges } = await served(async (request, response) => {
    const chunks = await request.setEncoding('utf8').toArray();
    const { 'content-type': type, 'user-agent': agent, 'accept-encoding': encoding } = request.headers;
    response.end(JSON.stringify([request.url, agent, encoding, `${type} ${chunks.join('')}`]));
  });
  const request = { ...listing, method: 'POST', path: '/auth/token', query: { type: 'edge' }, ...payload } as const;
  const received = ['/v1/auth/token?type=edge', 'filer-exporter/test', 'gzip', sent];
  expect(await client.send(request, running)).toEqual(received);
  const exchange = { operation: 'serials', code: '200', status: 200, error: undefined, body: received };
  expect(exchanges).toMatchObject([exchange]);
});

test('[read-only] a request that is no GET and not allowed is neither sent nor counted', async () => {
  const { client, codes } = await responding(200);
  for (const [method, path] of Object.entries({ DELETE: '/auth/token', POST: '/auth/token/x', PUT: '/auth/token' })) {
    const request = { ...listing, method, path } as ServiceRequest;
    await expect(client.send(request, running)).rejects.toThrow(ForbiddenRequestError);
  }
  expect(codes()).toEqual([]);
});

test('a request is repeated with the token of that moment, and each time is counted', async () => {
  const seen: unknown[] = [];
  const { client, clock, codes } = await served(({ headers }, response) => {
    seen.push(headers.authorization);
    response.writeHead(seen.length < 3 ? 503 : 200).end('[]');
  });
  const tokens = ['1', '2', '3'];
  const request: ServiceRequest = { method: 'GET', path: '/serials', operation: 'serials' };
  const authorization = () => `Bearer ${tokens.shift()}`;
  expect(await clock.through(client.send({ ...request, authorization }, running), 100)).toEqual([]);
  expect([seen.join(), codes().join()]).toEqual(['Bearer 1,Bearer 2,Bearer 3', '503,503,200']);
});

test.each([200, 201, 202, 299])('a response with status %d is a success if it is as documented', async (status) => {
  const { client, exchanges } = await responding(status, '{}');
  expect(await client.send(listing, running)).toEqual({});
  expect(exchanges).toMatchObject([{ code: String(status), error: undefined }]);
});

test.each<[string, (body: unknown) => unknown, string]>([
  ['is not as documented', () => Promise.reject(new SchemaError('expected an object')), 'expected an object'],
  ['our own code cannot read', (body) => (body as [{ x: string }])[0].x, 'the response cannot be read'],
])('a response that %s counts as invalid', async (_, read, message) => {
  const { client, codes } = await responding(200, '[null]');
  const sent = client.send({ ...listing, read }, running);
  await expect(sent).rejects.toMatchObject({ name: 'SchemaError', message: expect.stringContaining(message) });
  expect(codes()).toEqual(['invalid']);
});

test('a response with 429 lets the next request wait as long as Retry-After says', async () => {
  const headers = { 'retry-after': 'Mon, 02 Mar 2026 11:00:30 GMT', date: 'Mon, 02 Mar 2026 11:00:00 GMT' };
  const { failure, limits } = await responding(429, '{"message":"Too many requests"}', headers);
  expect((await failure()).message).toBe('GET /serials returned 429: Too many requests');
  expect([limits.waitUntil, limits.requestsInFlight]).toEqual([31_000, 0]);
});

test.each([304, 400, 503])('a response with %d and Retry-After is an error, and lets nothing wait', async (status) => {
  const { failure, codes, limits } = await responding(status, '', { 'retry-after': '7' });
  expect(await failure()).toMatchObject({ status, message: `GET /serials returned ${status}` });
  expect([codes(), limits.waitUntil]).toEqual([[String(status)], undefined]);
});

test.each([
  [308, 'https://eu.example.com/v1/serials?key=abcd', 'a redirect to https://eu.example.com', 'redirect'],
  [301, 'https://user:pass@10.20.30.40:8443/', 'a redirect to https://10.20.30.40:8443', 'redirect'],
  [302, 'https://configured-secret-1.example.com/', 'a redirect to https://[…].example.com', 'redirect'],
  [302, '/login', undefined, 'page'],
  [302, 'https://[', undefined, 'page'],
])('a redirect with %d to %s is named and not followed', async (status, location, words, problem) => {
  const { failure, codes } = await responding(status, '', { location });
  const message = `GET /serials returned ${status}${words === undefined ? '' : `, ${words}`}`;
  expect(await failure()).toMatchObject({ message, problem });
  expect(codes()).toEqual([String(status)]);
});

test.each([
  ['{"message":"No such appliance","detail":null}', ': No such appliance'],
  ['{"message":"Bad","detail":[{"input":"hunter2"}]}', ': Bad'],
  ['{"message":"no session for t0k3n"}', ': no session for […]'],
  ['{"error":"internal"}', ': internal'],
  ['{"message":{"a":1}}', ''],
  ['{"__proto__":{"message":"inherited"}}', ''],
  ['<', ' (a web page)', 'text/html; charset=utf-8'],
  ['<html><h1>502 Bad Gateway</h1></html>', ''],
  ['', '', 'text/html'],
])('of the error %s of a service "%s" is shown', async (body, words, type = 'text/plain') => {
  const { failure } = await responding(422, body, { 'content-type': type });
  const error = await failure({ authorization: () => 'Bearer t0k3n' });
  expect(error.message).toBe(`GET /serials returned 422${words}`);
});

test('a request without a response is not counted as accepted', async () => {
  let requests = 0;
  const { failure, clock, limits } = await served(({ socket }, response) => {
    requests += 1;
    if (requests === 2) socket.destroy();
    else response.writeHead(429).end();
  });
  const codes: string[] = [];
  for (const afterMs of [0, 40_000, 40_000]) {
    await clock.advance(afterMs);
    codes.push((await failure()).code);
  }
  expect(codes).toEqual(['429', 'network', '429']);
  // Throttled all the time, the wait is an eighth of 80 s; throttled anew, it would be a second.
  expect((limits.waitUntil ?? 0) - clock.monotonic()).toBe(10_000);
});

test('after a stop a request that waits is not sent, and one in flight ends', async () => {
  const stop = new AbortController();
  const { failure, codes } = await served(() => stop.abort());
  expect((await failure({}, stop.signal)).message).toBe('GET /serials was aborted: the exporter is stopping');
  const error = await failure({}, stop.signal);
  expect([error.code, error.message]).toEqual(['aborted', 'GET /serials was not sent: the exporter is stopping']);
  expect(codes()).toEqual(['aborted']);
});
