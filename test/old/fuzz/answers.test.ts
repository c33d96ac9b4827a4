import { expect, test } from 'vitest';
import { RequestError, SchemaError } from '../../src/runtime/errors.ts';
import type { PortalClient } from '../../src/services/portal/client.ts';
import { fetchPages } from '../../src/services/portal/paging.ts';
import type { JsonClient, ServiceRequest } from '../../src/transport/json-client.ts';
import fc from '../support/fast-check.ts';
import { MemoryDispatcher } from '../support/memory-dispatcher.ts';
import { going } from '../support/mock-api.ts';
import { bench } from '../transport/polite.ts';
import { anyJson, hostileText } from './arbitraries.ts';

/** A client of a service that answers everything with one status and one body. */
function answeredWith(status: number, body: Buffer): JsonClient {
  const answer = new MemoryDispatcher((_, response) => {
    response.writeHead(status, { 'content-length': body.length });
    response.end(body);
  });
  return bench('http://api.test', answer).client;
}

const secret = fc.stringMatching(/^[A-Za-z0-9_+=/.~-]{6,40}$/);
/** What a service may say around something that it was sent. */
const saying = (sent: string) =>
  fc.tuple(hostileText, hostileText, fc.boolean()).map(([before, after, isKnown]) => {
    return isKnown ? `${before} ${sent}${after}` : `${before}${after}`;
  });
const bodyWith = (sent: string) =>
  fc.oneof(
    { weight: 6, arbitrary: fc.record({ message: saying(sent), error: fc.oneof(saying(sent), anyJson) }).map(jsonOf) },
    { weight: 2, arbitrary: fc.record({ error: saying(sent) }).map(jsonOf) },
    { weight: 1, arbitrary: anyJson.map(jsonOf) },
    { weight: 1, arbitrary: fc.uint8Array({ maxLength: 100 }).map((bytes) => Buffer.from(bytes)) },
  );
const refused = secret.chain((sent) => fc.record({ sent: fc.constant(sent), body: bodyWith(sent) }));

const inJson = (sent: string): ServiceRequest => {
  return { method: 'POST', path: '/auth/token', operation: 'token', json: { token: sent } };
};

/** The ways in which a secret is sent. */
const requests: readonly ((sent: string) => ServiceRequest)[] = [
  (sent) => ({ method: 'GET', path: '/serials', operation: 'serials', headers: { authorization: `Bearer ${sent}` } }),
  (sent) => ({ method: 'GET', path: '/data', operation: 'data', headers: { authorization: sent } }),
  (sent) => ({ method: 'POST', path: '/auth/token', operation: 'token', headers: { 'x-user-key': sent }, json: {} }),
  (sent) => ({ method: 'POST', path: '/auth/token', operation: 'token', form: { client_secret: sent } }),
  inJson,
];

test('whatever the body of an error says, it becomes one short line without what was sent in secret', async () => {
  await fc.assert(
    fc.asyncProperty(
      refused,
      fc.constantFrom(...requests),
      fc.constantFrom(400, 401, 403, 422, 429, 500, 503),
      async ({ sent, body }, requestOf, status) => {
        const request = requestOf(sent);
        const error: unknown = await answeredWith(status, body)
          .send(request, going)
          .catch((thrown: unknown) => thrown);
        expect(error).toBeInstanceOf(RequestError);
        const { message } = error as RequestError;
        const told = `${request.method} ${request.path} returned ${status}`;
        expect(message.startsWith(told)).toBe(true);
        const hint = message.slice(told.length);
        expect(hint.length).toBeLessThanOrEqual(202);
        expect(hint).not.toContain(sent);
        expect(hint).not.toMatch(/[\n\r]/);
      },
    ),
    { numRuns: 250, examples: [[{ sent: '__aaaa', body: jsonOf({ message: 'no token __aaaa' }) }, inJson, 401]] },
  );
});

const page = fc.oneof(
  { weight: 6, arbitrary: fc.record({ items: anyJson, metadata: fc.record({ iterator_id: anyJson }) }) },
  { weight: 2, arbitrary: fc.record({ metadata: fc.record({ iterator_id: fc.constantFrom('a', 'b', 'c') }) }) },
  { weight: 1, arbitrary: anyJson },
) as fc.Arbitrary<unknown>;

test('whatever stands in the place of a cursor, the pages come to an end, and none is asked for twice', async () => {
  const maxPages = 20;
  await fc.assert(
    fc.asyncProperty(fc.array(page, { minLength: 1, maxLength: 6 }), async (bodies) => {
      const cursors: (string | undefined)[] = [];
      const client = {
        send: ({ query }: ServiceRequest) => {
          cursors.push(query?.iterator_id);
          return Promise.resolve(bodies[(cursors.length - 1) % bodies.length]);
        },
      } as unknown as PortalClient;
      const request = { method: 'GET', path: '/jobs', operation: 'jobs', query: { page_size: '5' } } as const;
      try {
        for await (const _ of fetchPages(client, request, going, 'whole', maxPages));
      } catch (error) {
        expect(error).toBeInstanceOf(SchemaError);
      }
      expect(cursors.length).toBeLessThanOrEqual(maxPages);
      expect(new Set(cursors).size).toBe(cursors.length);
      for (const cursor of cursors.slice(1)) expect(cursor?.length).toBeGreaterThan(0);
    }),
    { numRuns: 300 },
  );
});

function jsonOf(value: unknown): Buffer {
  return Buffer.from(JSON.stringify(value));
}
