import { expect, test } from 'vitest';
import { upstreamCatalog } from '../src/catalog.ts';
import { portalCollectors } from '../src/services/portal/variables.ts';
import { coverage, strayDecisions } from './support/coverage.ts';
import { beyond, published } from './support/endpoints.ts';

const all = coverage([...published, ...beyond]);

test.each(all.map((one) => ({ ...one, path: one.endpoint.path })))(
  '$path is exported by a collector into metrics, or not for a reason',
  ({ collectors, families, reason }) => {
    expect(collectors.length > 0).toBe(families.length > 0);
    if (collectors.length === 0) expect(reason?.length).toBeGreaterThan(15);
  },
);

test('every decision is about an operation that there is, and none has two', () => {
  expect(strayDecisions()).toEqual([]);
  const undecided = all.filter(({ collectors, reason }) => collectors.length > 0 === (reason !== undefined));
  expect(undecided.map(({ endpoint }) => endpoint.path)).toEqual([]);
});

test('every collector that can be chosen asks an operation of the page, and no other is named', () => {
  const chosen = portalCollectors.map(({ name }) => name);
  const named = new Set(all.flatMap(({ collectors }) => collectors));
  // The first has a service of its own, and the second is always on.
  expect([...named].toSorted()).toEqual(['gfa', 'inventory', ...chosen].toSorted());
});

test('every metric of upstream data comes from an operation of the page, but for those made of polls', () => {
  const named = new Set(all.flatMap(({ families }) => families));
  const others = upstreamCatalog.map(({ name }) => name).filter((name) => !named.has(name));
  expect(others).toEqual([
    'filer_appliance_up',
    'filer_appliance_state',
    'filer_appliance_last_record_timestamp_seconds',
    'filer_appliance_series_timestamp_seconds',
  ]);
});
