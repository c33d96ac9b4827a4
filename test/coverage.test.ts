import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { catalog, upstreamCatalog } from '../src/catalog.ts';
import { portalCollectors } from '../src/sources/portal/variables.ts';
import { coverage, strayDecisions } from './support/coverage.ts';
import { beyond, isOfToken, onlyReads, published } from './support/endpoints.ts';

const page = fileURLToPath(new URL('../docs/coverage.md', import.meta.url));
const all = coverage([...published, ...beyond]);

/** One row of the page as it stands in the file. */
interface Row {
  readonly operation: string;
  readonly collectors: readonly string[];
  readonly metrics: readonly string[];
  readonly text: string;
}

const rows: readonly Row[] = readFileSync(page, 'utf8')
  .split('\n')
  .filter((line) => /^\| `(?:GET|POST) /.test(line))
  .map(rowOf);

function rowOf(line: string): Row {
  const [operation = '', by = '', text = ''] = line.replaceAll(/^\| | \|$/g, '').split(' | ');
  const names = (cell: string) => [...cell.matchAll(/`([a-z_]+)`/g)].map(([, name = '']) => name);
  const metrics = names(text).filter((name) => name.startsWith('filer_'));
  return { operation: operation.replaceAll('`', ''), collectors: names(by), metrics, text };
}

test('the page has a row for every published operation that reads, and for no other', () => {
  const wanted = [...published, ...beyond]
    .filter((endpoint) => onlyReads(endpoint) && !isOfToken(endpoint))
    .map(({ method, path }) => `${method} ${path}`);
  expect(rows.map(({ operation }) => operation)).toEqual(wanted);
});

test.each(rows)('$operation is exported by a collector into metrics that exist, or not for a reason', (row) => {
  const { collectors, metrics, text } = row;
  const known = new Set(catalog.map(({ name }) => name));
  expect(metrics.filter((name) => !known.has(name))).toEqual([]);
  expect(collectors.length > 0).toBe(metrics.length > 0);
  if (collectors.length === 0) expect(text.length).toBeGreaterThan(15);
});

test('every decision is about an operation that there is, and none has two', () => {
  expect(strayDecisions()).toEqual([]);
  const undecided = all.filter(({ collectors, reason }) => collectors.length > 0 === (reason !== undefined));
  expect(undecided.map(({ endpoint }) => endpoint.path)).toEqual([]);
});

test('every collector that can be chosen asks an operation of the page, and no other is named', () => {
  const chosen = portalCollectors.map(({ name }) => name);
  const named = new Set(rows.flatMap(({ collectors }) => collectors));
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
