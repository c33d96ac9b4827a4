import { describe, expect, test } from 'vitest';
import type { PollResult } from '../../../../src/contract/poll-result.ts';
import { isJsonObject, type JsonObject } from '../../../../src/metrics/family.ts';
import { RequestError, SchemaError } from '../../../../src/runtime/errors.ts';
import { ALL_SERIES } from '../../../../src/services/portal/appliances/series-operations.ts';
import { collectorDefinitions } from '../../../../src/services/portal/collectors.ts';
import type { ServiceRequest } from '../../../../src/transport/json-client.ts';
import { recorded } from '../../../golden/exposition.ts';
import fc from '../../../harness/fast-check.ts';
import { every5m, FakePortal, poll } from './fake-portal.ts';

const SERIAL = 'a1d1b8de-4e2b-4d0c-9a7f-5a2b6c7d8e01';

const responses: JsonObject = Object.assign(
  {},
  ...['appliances', 'volumes', 'account'].map((name) => recorded(`portal/${name}`)),
  Object.fromEntries(
    Object.entries(recorded('portal/series') as JsonObject).map(([name, body]) => {
      return [`/telemetry/appliances/${SERIAL}/${name}`, body];
    }),
  ),
);

function keyOf({ path, query }: ServiceRequest): string {
  return query?.type === undefined ? path : `${path}?type=${query.type}`;
}

const reply = (request: ServiceRequest) => Object(responses[keyOf(request)] ?? { items: [] });

/** Polls everything as recorded, but one operation, which has this body; returns what the task of that operation makes of it. */
async function resultOf(path: string, body: unknown): Promise<PollResult> {
  const portal = new FakePortal((request) => (keyOf(request) === path ? (body as object) : reply(request)));
  const collector = portal.collector({
    series: every5m(...ALL_SERIES),
    collectors: collectorDefinitions,
    readsEarlierBuilds: true,
  });
  const polled = new Set<string>();
  for (;;) {
    const task = [...collector.tasks()].find(({ id }) => !polled.has(id));
    if (task === undefined) throw new Error(`nothing has requested ${path}`);
    polled.add(task.id);
    portal.requests.length = 0;
    const result = await poll(task).catch((error: unknown) => error);
    if (!portal.requests.some((request) => keyOf(request) === path)) continue;
    if (result instanceof Error) throw result;
    return result as PollResult;
  }
}

/** The body with the values of its records replaced, and its lists kept. */
function replaced(body: unknown, value: () => unknown): unknown {
  if (Array.isArray(body)) return body.map((item) => replaced(item, value));
  if (!isJsonObject(body)) return value();
  return Object.fromEntries(Object.entries(body).map(([name, inner]) => [name, replaced(inner, value)]));
}

// A list of the inventory that cannot be read is a gap, and no failure of the task.
const operations = Object.keys(responses).filter((path) => !path.startsWith('/serials') && path !== '/edges');

describe.each(operations)('%s', (path) => {
  test('returns a list, a text or nothing: the poll fails', async () => {
    for (const body of [[], 'text', null]) await expect(resultOf(path, body)).rejects.toThrow(SchemaError);
  });

  test('returns null in every field: no sample but counts and infos', async () => {
    const { samples } = await resultOf(
      path,
      replaced(responses[path], () => null),
    );
    expect([...samples].filter(({ name, value }) => value !== 0 && !COUNTS.test(name))).toEqual([]);
  });

  test('property: whatever its fields contain, samples are numbers with labels that are texts', async () => {
    const hostile = fc.oneof(
      fc.jsonValue(),
      fc.constantFrom<unknown>(null, '', ' - ', 'NaN', '12', -1, Number.MAX_VALUE, '2026-02-30T00:00:00Z'),
    );
    await fc.assert(
      fc.asyncProperty(fc.infiniteStream(hostile), async (stream) => {
        const body = replaced(responses[path], () => stream.next().value);
        const result = await resultOf(path, body).catch((error: unknown) => error);
        if (result instanceof SchemaError || result instanceof RequestError) return;
        if (result instanceof Error) throw result;
        for (const { value, labels } of (result as PollResult).samples) {
          expect(Number.isFinite(value)).toBe(true);
          for (const text of Object.values(labels)) expect(typeof text).toBe('string');
        }
      }),
      { numRuns: 5 },
    );
  });
});

/** How many records a list has is known whatever they contain. */
const COUNTS =
  /^filer_(iam_users|iam_keys|gfa_api_keys\w*|software_downloads|fiq_appliance_info|appliance_machine_info|indexing_in\w+)$/;
