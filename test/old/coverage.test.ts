import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { upstreamCatalog } from '../src/catalog.ts';
import { portalCollectors } from '../src/services/portal/variables.ts';
import { coverage, rowsOf, strayDecisions } from './support/coverage.ts';
import { beyond, published } from './support/endpoints.ts';
import { root } from './support/program.ts';

const all = coverage([...published, ...beyond]);
const rows = rowsOf(readFileSync(join(root, 'docs/coverage.md'), 'utf8'));

test('the page has one row for each operation that only reads, the published interfaces first', () => {
  expect(rows.map(({ operation }) => operation)).toEqual(
    all.map(({ endpoint: { method, path } }) => `${method} ${path}`),
  );
});

test.each(all.map((one, index) => ({ ...one, path: one.endpoint.path, what: rows[index]?.what ?? '' })))(
  '$path is exported by a collector into metrics, or not for a reason',
  ({ collectors, families, what }) => {
    expect(collectors.length > 0).toBe(families.length > 0);
    expect(what.includes('](metrics.md#')).toBe(collectors.length > 0);
    expect(what.length).toBeGreaterThan(15);
  },
);

test('every decision is about an operation that there is', () => {
  expect(strayDecisions()).toEqual([]);
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
