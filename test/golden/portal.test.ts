import { expect, test } from 'vitest';
import { type CatalogEntry, upstreamCatalog } from '../../src/catalog.ts';
import { isJsonObject, type JsonObject } from '../../src/metrics/family.ts';
import type { Sample } from '../../src/metrics/samples.ts';
import { ALL_SERIES } from '../../src/services/portal/appliances/series-operations.ts';
import { collectorDefinitions } from '../../src/services/portal/collectors.ts';
import { portal } from '../../src/services/portal/service.ts';
import type { ServiceRequest } from '../../src/transport/json-client.ts';
import { ManualClock } from '../harness/manual-clock.ts';
import { collecting, every5m, FakePortal, pollAll } from '../unit/services/portal/fake-portal.ts';
import { expectExposition, recorded } from './exposition.ts';

/** The appliance that the recorded series are about. */
const SERIAL = 'a1d1b8de-4e2b-4d0c-9a7f-5a2b6c7d8e01';

const WITH_APPLIANCES = ['edges'];
const WITH_VOLUMES = ['volumes', 'volume_telemetry'];
const OF_ACCOUNT = collectorDefinitions
  .map(({ name }) => name)
  .filter((name) => !WITH_APPLIANCES.includes(name) && !WITH_VOLUMES.includes(name));

/** Recorded responses by path; those of series by name. */
const responses = Object.assign({}, ...['appliances', 'volumes', 'account'].map((name) => recorded(`portal/${name}`)));
const seriesResponses = recorded('portal/series') as JsonObject;

/** Answers as recorded; an appliance without records has none of that series. */
function reply({ path, query, operation }: ServiceRequest): object {
  const isOfSeries = path.startsWith('/telemetry/appliances/');
  if (isOfSeries && !path.includes(SERIAL)) return { items: [] };
  const key = query?.type === undefined ? path : `${path}?type=${query.type}`;
  const response = isOfSeries ? seriesResponses[operation] : responses[key];
  if (response === undefined) throw new Error(`record a response of ${isOfSeries ? operation : key}`);
  return Object(response);
}

/** Polls what this configuration polls, an hour after the start; snapshots and notifications are from after it. */
async function samplesOf(series: readonly string[], collectors: readonly string[]): Promise<readonly Sample[]> {
  const fake = new FakePortal(reply, new ManualClock(Date.parse('2026-03-02T09:00:00Z')));
  const collector = fake.collector({
    series: every5m(...series),
    collectors: collecting(...collectors),
    readsEarlierBuilds: true,
  });
  await fake.clock.advance(70 * 60_000);
  const samples = await pollAll(collector);
  const isOfInventory = ({ name }: Sample) => name === 'filer_appliance_info';
  return collectors === WITH_APPLIANCES ? samples : samples.filter((sample) => !isOfInventory(sample));
}

test.each([
  ['series', ALL_SERIES, []],
  ['appliances', [], WITH_APPLIANCES],
  ['volumes', [], WITH_VOLUMES],
  ['account', [], OF_ACCOUNT],
] as const)('recorded responses about %s have the exposition beside them', async (name, series, collectors) => {
  await expectExposition(await samplesOf(series, collectors), `portal/${name}`);
});

test('no secret and nothing personal of a recorded response is in any exposition', async () => {
  expect(JSON.stringify(responses)).toMatch(/canary/);
  expect(JSON.stringify(await everySample())).not.toMatch(/canary/);
});

const families = new Set<string>(portal.tables.flatMap(({ families: own }) => own.map(({ name }) => name)));
const catalog = upstreamCatalog.filter(({ name, source }) => families.has(name) && source[0] !== 'polls');

test('every metric of the portal is in a recorded exposition, with the labels that it declares', async () => {
  const samples = await everySample();
  for (const entry of catalog) {
    const own = samples.filter(({ name }) => linesOf(entry).includes(name));
    expect(own, `${entry.name} is in no exposition: record a response`).not.toHaveLength(0);
    for (const { name, labels } of own) {
      const bound = name.endsWith('_bucket') ? ['le'] : [];
      expect([name, new Set(Object.keys(labels))]).toEqual([name, new Set([...entry.labels, ...bound])]);
    }
  }
});

test('every field that a row names has a value in a recorded response', () => {
  const fields = new Set<string>();
  const collect = (value: unknown): void => {
    if (Array.isArray(value)) for (const item of value) collect(item);
    if (!isJsonObject(value)) return;
    for (const [name, inner] of Object.entries(value)) {
      if (inner !== null) fields.add(name);
      collect(inner);
    }
  };
  collect([responses, seriesResponses]);
  for (const { name, source } of catalog) {
    for (const origin of source) {
      const [, named = ''] = origin.split(': ');
      for (const field of named.split(', ').filter((text) => text !== '' && text !== 'every numeric field'))
        expect(fields, `${name} reads ${field}: record it`).toContain(field);
    }
  }
});

async function everySample(): Promise<readonly Sample[]> {
  const all = collectorDefinitions.map(({ name }) => name);
  return [...(await samplesOf(ALL_SERIES, all)), ...(await samplesOf([], WITH_APPLIANCES))];
}

function linesOf({ name, type }: CatalogEntry): readonly string[] {
  return type === 'histogram' ? ['_bucket', '_sum', '_count'].map((suffix) => name + suffix) : [name];
}
