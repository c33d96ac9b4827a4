import { beforeAll, expect, test } from 'vitest';
import { upstreamCatalog } from '../../src/catalog.ts';
import type { Sample } from '../../src/metrics/samples.ts';
import { ALL_SERIES } from '../../src/services/portal/appliances/series-operations.ts';
import { collectorDefinitions } from '../../src/services/portal/collectors.ts';
import { portal } from '../../src/services/portal/service.ts';
import { ManualClock } from '../harness/manual-clock.ts';
import { collecting, every5m, FakePortal, pollAll } from '../unit/services/portal/fake-portal.ts';
import { expectExposition, portalResponses, recordedReply } from './exposition.ts';

const WITH_APPLIANCES = ['edges'];
const WITH_VOLUMES = ['volumes', 'volume_telemetry'];
const OF_ACCOUNT = collectorDefinitions
  .map(({ name }) => name)
  .filter((name) => !WITH_APPLIANCES.includes(name) && !WITH_VOLUMES.includes(name));

/** Polls what this configuration polls, an hour after the start; snapshots and notifications are from after it. */
async function samplesOf(series: readonly string[], collectors: readonly string[]): Promise<readonly Sample[]> {
  const fake = new FakePortal(recordedReply, new ManualClock(Date.parse('2026-03-02T09:00:00Z')));
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

const configurations = [
  ['series', ALL_SERIES, []],
  ['appliances', [], WITH_APPLIANCES],
  ['volumes', [], WITH_VOLUMES],
  ['account', [], OF_ACCOUNT],
] as const;

const recordedSamples = new Map<string, readonly Sample[]>();
const everySample = () => [...recordedSamples.values()].flat();

beforeAll(async () => {
  for (const [name, series, collectors] of configurations)
    recordedSamples.set(name, await samplesOf(series, collectors));
});

test.each(configurations)('recorded responses about %s have the exposition beside them', async (name) => {
  await expectExposition(recordedSamples.get(name) ?? [], `portal/${name}`);
});

test('no secret and nothing personal of a recorded response is in any exposition', () => {
  expect(JSON.stringify(portalResponses)).toMatch(/canary/);
  expect(JSON.stringify(everySample())).not.toMatch(/canary/);
});

const families = new Set<string>(portal.tables.flatMap(({ families: own }) => own.map(({ name }) => name)));
const catalog = upstreamCatalog.filter(({ name, source }) => families.has(name) && source[0] !== 'polls');

test.each(catalog)('$name is in a recorded exposition, with the labels that it declares', ({ name, type, labels }) => {
  const lines = type === 'histogram' ? [`${name}_bucket`, `${name}_sum`, `${name}_count`] : [name];
  const own = everySample().filter((sample) => lines.includes(sample.name));
  expect(own, 'record a response').not.toHaveLength(0);
  for (const sample of own) {
    const bound = sample.name.endsWith('_bucket') ? ['le'] : [];
    expect([sample.name, new Set(Object.keys(sample.labels))]).toEqual([sample.name, new Set([...labels, ...bound])]);
  }
});
