import { expect, test } from 'vitest';
import { variationsFromReport } from '../../src/demo/demo.ts';
import type { MockServices } from '../../src/demo/mock-services.ts';
import { isJsonObject } from '../../src/metrics/family.ts';
import { documentedData } from '../../src/services/gfa/doctor/documented.ts';
import { documentedResponses } from '../../src/services/portal/doctor/documented.ts';
import { visit } from './simulated-visit.ts';

/** Every text of every answer and request that names somebody or something: what a report must not hold. */
function textsOf(value: unknown, texts: Set<string>): Set<string> {
  if (typeof value === 'string') texts.add(value);
  else if (Array.isArray(value)) for (const item of value) textsOf(item, texts);
  else if (isJsonObject(value)) for (const one of Object.values(value)) textsOf(one, texts);
  return texts;
}

/** Of a person, a company and a host, as keys of an object. */
const NAMES = ['jsmith', 'AcmeBank', 'nas1.vault.bank.corp'];

test('[report-names] a report holds no name, id, host, key or other text of the account', async () => {
  let mocks: MockServices | undefined;
  const { report, found } = await visit({
    environment: { PORTAL_COLLECTORS: 'all' },
    before: (started) => {
      mocks = started;
      // A canary where nobody expects one: an unknown field, and an id that is the name of a field.
      const odd = {
        items: [],
        'edge-lyon': 1,
        ...Object.fromEntries(NAMES.map((name) => [name, 1])),
        surprise: 'canary-in-an-unknown-field',
        canary: { [started.fleet.appliances[0]?.serial ?? '']: 7 },
      };
      started.fail({ operation: 'jobs', times: 1, kind: 'body', body: JSON.stringify(odd) });
    },
  });
  const text = JSON.stringify(report);
  const forbidden = new Set<string>(mocks?.confidential);
  for (const { serial, edgeId, title } of mocks?.fleet.appliances ?? [])
    for (const one of [serial, edgeId, title]) forbidden.add(one);
  for (const { guid, portalId, title } of mocks?.fleet.volumes ?? [])
    for (const one of [guid, portalId, title]) forbidden.add(one);
  expect(forbidden.size).toBeGreaterThan(50);
  for (const one of [...forbidden, ...NAMES, '127.0.0.1', 'canary-in-an-unknown-field'])
    expect(text).not.toContain(one);
  expect(report.services.portal?.operations.jobs).toMatchObject({ undocumentedFields: 7 });
  // Whatever else the services said in texts: none but words that the documentation has.
  const documented = JSON.stringify([documentedResponses, documentedData({})], (_, one: unknown) =>
    one instanceof Set ? [...one] : one,
  );
  const said = textsOf(
    found.services.flatMap(({ exchanges }) => exchanges.map(({ body }) => body)),
    new Set(),
  );
  const leaked = [...said].filter(
    (one) => one.length > 12 && text.includes(`"${one}"`) && !documented.includes(`"${one}"`),
  );
  expect(leaked).toEqual([]);
});

test('a report tells what helps: statuses, shapes, shares, words and the answers to the open questions', async () => {
  const { report } = await visit({ variations: { unknownStates: true, nulls: 0.3, forbidden: ['jobs'] } });
  const { portal, gfa } = report.services;
  expect(portal?.operations.jobs?.answers).toEqual({ 403: 1 });
  expect(portal?.operations.cpu_utilization?.shape).toMatchObject({
    fields: { items: { items: { fields: { cpu_usage: { shares: { null: expect.any(Number) } } } } } },
  });
  expect(gfa?.operations.data?.words.lock_state).toContain('RELEASED');
  expect(report.findings).toContainEqual({
    level: 'failure',
    subject: 'portal',
    check: 'operations',
    code: 'jobs-403',
  });
});

test('the mock services answer as the account of a report: the doctor finds the same answers there', async () => {
  const { report, answers } = await visit({
    variations: {
      metricsShape: 'object',
      ratioUnit: 'ratio',
      counts: 'second',
      jwt: 'none',
      forbidden: ['jobs'],
    },
  });
  const again = await visit({ variations: variationsFromReport(JSON.parse(JSON.stringify(report))) });
  expect(again.answers).toEqual(answers);
  expect(again.complaints.toSorted()).toEqual([
    'failure portal operations jobs-403',
    'warning portal counts per_second',
    'warning portal ratio_unit ratio',
  ]);
});
