import { describe, expect, test } from 'vitest';
import type { PollResult } from '../../../../src/contract/poll-result.ts';
import { isJsonObject } from '../../../../src/metrics/family.ts';
import { RequestError, SchemaError } from '../../../../src/runtime/errors.ts';
import { collectorDefinitions } from '../../../../src/services/portal/collectors.ts';
import { keyOf, portalResponses, recordedReply } from '../../../golden/exposition.ts';
import fc from '../../../harness/fast-check.ts';
import { every5m, FakePortal, poll, type Reply } from './fake-portal.ts';

/** Everything responds as recorded but this path, which has this body; returns what the task that requests it makes of it. */
async function resultOf(path: string, body: unknown): Promise<PollResult> {
  const portal = new FakePortal((request) => (keyOf(request) === path ? (body as Reply) : recordedReply(request)));
  const [, , of, , series = ''] = path.split('/');
  const collector = portal.collector(
    of === 'appliances' ? { series: every5m(series), readsEarlierBuilds: true } : { collectors: collectorDefinitions },
  );
  const polled = new Set<string>();
  for (;;) {
    const task = [...collector.tasks()].find(({ id }) => !polled.has(id));
    if (task === undefined) throw new Error(`nothing has requested ${path}`);
    polled.add(task.id);
    const result = poll(task);
    await result.catch(() => {});
    if (portal.requests.some((request) => keyOf(request) === path)) return result;
  }
}

/** The body with the values of its records replaced, and its lists kept. */
function replaced(body: unknown, value: () => unknown): unknown {
  if (Array.isArray(body)) return body.map((item) => replaced(item, value));
  if (!isJsonObject(body)) return value();
  return Object.fromEntries(Object.entries(body).map(([name, inner]) => [name, replaced(inner, value)]));
}

// A list of the inventory that cannot be read is a gap, and no failure of the task.
const paths = Object.keys(portalResponses).filter((path) => !path.startsWith('/serials') && path !== '/edges');

describe.each(paths)('%s', (path) => {
  test('returns a list, a text or nothing: the poll fails', async () => {
    for (const body of [[], 'text', null]) await expect(resultOf(path, body)).rejects.toThrow(SchemaError);
  });

  test('property: whatever its fields contain, samples are numbers with labels that are texts', async () => {
    const texts = [null, '', ' - ', 'NaN', '12', -1, Number.MAX_VALUE, '2026-02-30T00:00:00Z'];
    const hostile = fc.oneof(fc.jsonValue(), fc.constantFrom<unknown>(...texts));
    const check = async (stream: Iterator<unknown>) => {
      const body = replaced(portalResponses[path], () => stream.next().value);
      const result = await resultOf(path, body).catch((error: unknown) => error);
      if (result instanceof SchemaError || result instanceof RequestError) return;
      if (result instanceof Error) throw result;
      for (const { value, labels } of (result as PollResult).samples) {
        expect(Number.isFinite(value)).toBe(true);
        for (const text of Object.values(labels)) expect(typeof text).toBe('string');
      }
    };
    await fc.assert(fc.asyncProperty(fc.infiniteStream(hostile), check), { numRuns: 5 });
  });
});
