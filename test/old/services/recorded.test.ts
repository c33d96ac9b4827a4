import { expect, onTestFinished, test, vi } from 'vitest';
import { type CatalogEntry, upstreamCatalog } from '../../src/catalog.ts';
import { ADDITIONAL_SERIES, STANDARD_SERIES } from '../../src/services/portal/appliances/series-operations.ts';
import { collectorDefinitions } from '../../src/services/portal/collectors.ts';
import { JsonClient } from '../../src/transport/json-client.ts';
import { type Line, linesOf } from '../support/exposition-lines.ts';
import {
  collectorAnswers,
  collectorExposition,
  fixturePath,
  gfaExposition,
  inventoryExposition,
  portalExposition,
  recorded,
} from '../support/recorded-answers.ts';

/** Compares with a file below `test/fixtures`. */
function expectExposition(exposition: string, path: string): Promise<void> {
  const how = `test/fixtures/${path} is written by npm test -- test/services/recorded.test.ts -u`;
  return expect(exposition, how).toMatchFileSnapshot(fixturePath(path));
}

const ALL_SERIES = [...STANDARD_SERIES, ...ADDITIONAL_SERIES];

test.each(ALL_SERIES)('a recorded answer of %s gives the exposition beside it', async (series) => {
  await expectExposition(await portalExposition(series), `portal/${series}.metrics`);
});

test.each(collectorDefinitions.map(({ name }) => name))(
  'recorded answers for %s give the exposition beside them',
  async (name) => {
    expect(collectorAnswers[name], `recorded answers for ${name}`).toBeDefined();
    await expectExposition(await collectorExposition(name), `portal/collector-${name}.metrics`);
  },
);

test('no secret and nothing personal of a recorded answer is in any exposition', async () => {
  for (const { name } of collectorDefinitions) expect(await collectorExposition(name)).not.toMatch(/canary/);
});

test('the inventory names the appliances in use, whatever is in their names, by the builds that the edges tell', async () => {
  await expectExposition(await inventoryExposition(), 'portal/inventory.metrics');
});

test('an answer of /data as a list, split over two objects, gives the exposition beside it', async () => {
  await expectExposition(await gfaExposition('data'), 'gfa/data.metrics');
});

test('an answer of /data as one object with groups missing gives the exposition beside it', async () => {
  await expectExposition(await gfaExposition('data-object'), 'gfa/data-object.metrics');
});

test('every family of the catalogue occurs in a recorded exposition, with the labels that it declares', async () => {
  const lines = await everyLine();
  for (const entry of upstreamCatalog) {
    const own = lines.filter(({ name }) => linesNames(entry).includes(name));
    expect(own, `${entry.name} occurs in no recorded exposition: add a fixture`).not.toHaveLength(0);
    for (const { name, labels } of own) {
      const bound = name.endsWith('_bucket') ? ['le'] : [];
      expect({ name, labels: labels.map(([label]) => label) }).toEqual({ name, labels: [...entry.labels, ...bound] });
    }
  }
});

test('every field that a row names holds a value in a recorded answer of its own operation', () => {
  for (const { name, source } of upstreamCatalog) {
    for (const origin of source) {
      const [operation = '', fields = ''] = origin.split(': ');
      const fixtures = fixturesOf(operation);
      const answers = fixtures.map((fixture) => recorded(fixture));
      for (const field of fields.split(', ').filter((text) => text !== '' && text !== 'every numeric field')) {
        const isHeld = answers.some((answer) => holds(answer, field));
        expect(isHeld, `${name} reads ${field}: add it to test/fixtures/${fixtures[0]}.json`).toBe(true);
      }
    }
  }
});

function linesNames({ name, type }: CatalogEntry): readonly string[] {
  return type === 'histogram' ? ['_bucket', '_sum', '_count'].map((suffix) => name + suffix) : [name];
}

async function everyLine(): Promise<readonly Line[]> {
  const expositions = [await gfaExposition('data'), await inventoryExposition()];
  for (const series of ALL_SERIES) expositions.push(await portalExposition(series));
  for (const { name } of collectorDefinitions) expositions.push(await collectorExposition(name));
  return expositions.flatMap(linesOf);
}

function fixturesOf(operation: string): readonly string[] {
  if (operation.startsWith('GET /data')) return ['gfa/data'];
  if (operation.startsWith('GET /') && !operation.startsWith('GET /serials')) {
    const [, path = ''] = /^GET \/([^,]+)/.exec(operation) ?? [];
    return [`portal/${path.replaceAll(/[{}]/g, '').replaceAll(/[/-]/g, '_')}`];
  }
  if (operation.startsWith('GET /serials')) return ['portal/serials-edge', 'portal/serials-file-iq', 'portal/edges'];
  if (operation === 'every series') return ALL_SERIES.map((series) => `portal/${series}`);
  return operation === 'polls' ? [] : [`portal/${operation}`];
}

/** Whether a field of this name is somewhere in an answer and is not null. */
function holds(answer: unknown, field: string): boolean {
  if (typeof answer !== 'object' || answer === null) return false;
  return Object.entries(answer).some(([name, value]) => (name === field && value !== null) || holds(value, field));
}

test('every answer of a collector that is a list has the room of one', async () => {
  const send = vi.spyOn(JsonClient.prototype, 'send');
  onTestFinished(() => send.mockRestore());
  for (const { name } of collectorDefinitions) await collectorExposition(name);
  const sizes = new Map(send.mock.calls.map(([{ path, size }]) => [path, size ?? 'one']));
  const lists = Object.values(collectorAnswers)
    .flat()
    .flatMap(([path, fixture]) => ('items' in Object(recorded(`portal/${fixture}`)) ? [path] : []));
  expect(lists.length).toBeGreaterThan(10);
  expect(lists.map((path) => [path, sizes.get(path)])).toEqual(lists.map((path) => [path, 'list']));
});
