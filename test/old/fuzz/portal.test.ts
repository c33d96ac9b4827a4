import { expect, test } from 'vitest';
import { upstreamCatalog } from '../../src/catalog.ts';
import { LineStore } from '../../src/exposition/store.ts';
import type { Sample } from '../../src/metrics/samples.ts';
import { toSamples } from '../../src/metrics/samples.ts';
import { SchemaError } from '../../src/runtime/errors.ts';
import { readInventory } from '../../src/services/portal/appliances/inventory.ts';
import { checkInventoryList, type ListName } from '../../src/services/portal/appliances/inventory-lists.ts';
import { inventoryTable } from '../../src/services/portal/appliances/series-families.ts';
import {
  ADDITIONAL_SERIES,
  operationsFor,
  STANDARD_SERIES,
} from '../../src/services/portal/appliances/series-operations.ts';
import { lifetimeOf } from '../../src/services/portal/token.ts';
import { parseExposition } from '../support/exposition-parser.ts';
import fc from '../support/fast-check.ts';
import { jwt } from '../support/portal-parts.ts';
import { textOf } from '../support/store-text.ts';
import { anyJson, hostileText, listOf, recordOf } from './arbitraries.ts';

const operations = operationsFor([...STANDARD_SERIES, ...ADDITIONAL_SERIES]);
const FIELDS = [
  ...new Set([...operations.values()].flatMap(({ families }) => families.flatMap(({ fields }) => Object.keys(fields)))),
  ...['time', 'num_cores', 'longterm', 'shortterm', 'midterm', 'health_score', 'description', 'raw_data', 'data'],
];
const series = fc.oneof(
  { weight: 8, arbitrary: fc.record({ items: listOf(recordOf(FIELDS)) }, { requiredKeys: [] }) },
  { weight: 2, arbitrary: recordOf(FIELDS) },
) as fc.Arbitrary<unknown>;
const ignore = () => {};

function expectParses(samples: readonly Sample[]): void {
  const store = new LineStore(upstreamCatalog);
  store.publish('t', samples);
  parseExposition(textOf(store), 'text');
  parseExposition(`${textOf(store, 'openmetrics')}# EOF\n`, 'openmetrics');
  // Absent is not zero, and neither is what is no number.
  for (const { value } of samples) expect(Number.isFinite(value)).toBe(true);
}

test('whatever a series answers, it is read or is no answer, and what is exposed parses', () => {
  fc.assert(
    fc.property(fc.constantFrom(...operations.values()), series, hostileText, (operation, body, filer) => {
      let records: ReturnType<typeof operation.records>;
      try {
        records = operation.records(body, ignore);
      } catch (error) {
        expect(error).toBeInstanceOf(SchemaError);
        return;
      }
      expectParses(toSamples(operation.families, records, { serial: 's', filer }, ignore));
    }),
    { numRuns: 1_000 },
  );
});

const uuid = fc.uuid().map((id) => id.toUpperCase());
const SERIAL_FIELDS = ['id', 'serial', 'type', 'in_use', 'description', 'build', 'available_build'];
const entry = fc.oneof(
  recordOf(SERIAL_FIELDS),
  fc.tuple(uuid, recordOf(SERIAL_FIELDS)).map(([id, rest]) => ({ ...(rest as object), id, serial: id })),
);
const list = fc.oneof(fc.record({ items: listOf(entry) }), anyJson) as fc.Arbitrary<unknown>;

test('whatever the inventory answers, it is read or is no answer, and each appliance has a uuid', () => {
  fc.assert(
    fc.property(list, list, list, (edge, fileIq, edges) => {
      try {
        for (const body of [edge, fileIq]) checkInventoryList(body, '/serials');
        checkInventoryList(edges, '/edges');
      } catch (error) {
        expect(error).toBeInstanceOf(SchemaError);
        return;
      }
      const answers = Object.entries({ edge_serials: edge, file_iq_serials: fileIq, edges }).map(
        ([name, body]) => [name as ListName, { body, isCurrent: true, isFresh: true }] as const,
      );
      const appliances = [...readInventory(new Map(answers), ignore).appliances.values()];
      for (const { serial } of appliances) expect(serial).toMatch(/^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/);
      expectParses(
        appliances.flatMap(({ serial, name, type, build, availableBuild }) =>
          toSamples(
            inventoryTable,
            [{ id: serial, type, build, available_build: availableBuild }],
            { serial, filer: name },
            ignore,
          ),
        ),
      );
    }),
    { numRuns: 300 },
  );
});

test('whatever a token says of its life, it lives for some time', () => {
  const token = fc.oneof(hostileText, fc.dictionary(fc.constantFrom('exp', 'iat'), anyJson).map(jwt), anyJson.map(jwt));
  fc.assert(
    fc.property(anyJson, token, fc.integer({ min: 0, max: 4e12 }), (expiresIn, access, now) => {
      expect(lifetimeOf({ access, expiresIn }, now).seconds).toBeGreaterThan(0);
    }),
    { numRuns: 500 },
  );
});
