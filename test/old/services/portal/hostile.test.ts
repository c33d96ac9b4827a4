import { describe, expect, test } from 'vitest';
import type { PollResult } from '../../../src/contract/poll-result.ts';
import { SchemaError } from '../../../src/runtime/errors.ts';
import { collectorDefinitions } from '../../../src/services/portal/collectors.ts';
import fc from '../../support/fast-check.ts';
import { going, mockApi, token } from '../../support/mock-api.ts';
import { portalCollector } from '../../support/portal-parts.ts';
import { collectorAnswers, recorded, SERIAL } from '../../support/recorded-answers.ts';

const EDGE = { id: '0f0e0d0c-0b0a-4908-8706-050403020100', serial: SERIAL, description: 'edge-lyon', build: '10.0.5' };

/** What one task of a collector makes of an answer; every other task is answered as it was recorded. */
async function readingOf(name: string, path: string, body: unknown): Promise<PollResult> {
  const api = mockApi();
  api.answer('POST', '/auth/token', token('access'));
  api.answer('GET', '/serials', [200, { items: [{ id: SERIAL, type: 'edge' }] }], [200, {}]);
  api.answer('GET', '/edges', [200, { items: [EDGE] }]);
  const collector = portalCollector(api, { series: [], collectors: [{ name, intervalMs: 300_000 }] });
  const polled = new Set<string>();
  const paths = collectorAnswers[name] ?? [];
  let reading: PollResult | undefined;
  for (;;) {
    const task = [...collector.tasks()].find(({ id }) => !polled.has(id));
    if (task === undefined || reading !== undefined) break;
    polled.add(task.id);
    if (task.id === 'portal/inventory') await task.poll(going);
    else {
      const index = polled.size - 2;
      const [own = '', fixture = ''] = paths[index] ?? [];
      api.answer(own.startsWith('/telemetry/') ? 'POST' : 'GET', own, [
        200,
        own === path ? body : recorded(`portal/${fixture}`),
      ]);
      const outcome = await task.poll(going);
      if (own === path) reading = outcome;
    }
  }
  if (reading === undefined) throw new Error(`${name} did not ask for ${path}`);
  return reading;
}

const operations = collectorDefinitions.flatMap(({ name }) =>
  (collectorAnswers[name] ?? []).map(([path, fixture]) => ({ name, path, fixture })),
);

describe.each(operations)('$name, $path', ({ name, path, fixture }) => {
  test('a list, a text and nothing are no answer', async () => {
    for (const body of [[], 'text', null]) await expect(readingOf(name, path, body)).rejects.toThrow(SchemaError);
  });

  test('whatever its fields hold gives samples that are numbers, or drops that are counted', async () => {
    const hostile = fc.oneof(
      fc.jsonValue(),
      fc.constantFrom<unknown>(null, '', 'NaN', '12', -1, Number.MAX_VALUE, '2026-02-30T00:00:00Z'),
    );
    await fc.assert(
      fc.asyncProperty(fc.infiniteStream(hostile), async (stream) => {
        const body = mutated(recorded(`portal/${fixture}`), () => stream.next().value);
        const reading = await readingOf(name, path, body).catch((error: unknown) => error);
        if (reading instanceof SchemaError) return;
        if (reading instanceof Error) throw reading;
        for (const { value, labels } of (reading as PollResult).samples) {
          expect(Number.isFinite(value)).toBe(true);
          for (const label of Object.values(labels)) expect(typeof label).toBe('string');
        }
      }),
      { numRuns: 10 },
    );
  });

  test('every value as null gives no sample that is not a count, and says that something was dropped', async () => {
    const reading = await readingOf(
      name,
      path,
      mutated(recorded(`portal/${fixture}`), () => null),
    ).catch((error: unknown) => error);
    if (reading instanceof SchemaError) return;
    const { samples, drops } = reading as PollResult;
    const told = [...samples].filter(({ value }) => value !== 0 && value !== 1);
    expect(told.filter(({ name: metric }) => !COUNTS.test(metric))).toEqual([]);
    // Of the users nothing is read but how many there are.
    if (path !== '/iam/users') expect([...drops.values()].reduce((sum, count) => sum + count, 0)).toBeGreaterThan(0);
  });
});

/** How many records a list has is known whatever is in them. */
const COUNTS =
  /^filer_(?:iam_users|iam_keys|gfa_api_keys|gfa_api_keys_unused|cloud_credentials|software_downloads|indexing_in\w+)/;

/** A body with the values of its records replaced, its envelope kept. */
function mutated(body: unknown, value: () => unknown, depth = 0): unknown {
  if (Array.isArray(body)) return body.map((item) => mutated(item, value, depth));
  if (typeof body !== 'object' || body === null) return value();
  const isEnvelope = depth === 0;
  return Object.fromEntries(
    Object.entries(body).map(([key, inner]) => {
      if (isEnvelope && (key === 'items' || key === 'metadata_events')) return [key, mutated(inner, value, 1)];
      if (isEnvelope && key === 'metadata') return [key, inner];
      return [key, typeof inner === 'object' && inner !== null && !isEnvelope ? mutated(inner, value, 1) : value()];
    }),
  );
}
