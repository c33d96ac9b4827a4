import { expect, test } from 'vitest';
import { upstreamCatalog } from '../../src/catalog.ts';
import { LineStore } from '../../src/exposition/store.ts';
import type { DropReason } from '../../src/metrics/samples.ts';
import { SchemaError } from '../../src/runtime/errors.ts';
import { runToEnd } from '../../src/runtime/slices.ts';
import { parseDataResponse, requireEnvelope } from '../../src/services/gfa/data-response.ts';
import { parseExposition } from '../support/exposition-parser.ts';
import fc from '../support/fast-check.ts';
import { newLedger } from '../support/gfa-answers.ts';
import { textOf } from '../support/store-text.ts';
import { anyJson, listOf, recordOf } from './arbitraries.ts';

const FIELDS = [
  ...['filer_guid', 'filer_title', 'volume_guid', 'volume_title', 'timestamp', 'metric_type', 'version'],
  ...['lock_state', 'lock_phase', 'lock_duration', 'prop_seconds', 'kind', 'propagation_type', 'data_protected'],
  ...['last_checkin', 'oldest_unprotected_data', 'time_to_protect', 'mode', 'profile'],
];
const group = listOf(recordOf(FIELDS));
const part = fc.record(
  { filers: group, volumes: group, locks: group, propagation: group },
  { requiredKeys: [] },
) as fc.Arbitrary<unknown>;
const INFO = ['account', 'last_info', 'last_lock_event', 'last_propagation', 'request_time', 'volumes'];
const answer = fc.oneof(
  {
    weight: 8,
    arbitrary: fc.record({ info: recordOf(INFO), metrics: fc.oneof(part, fc.array(part, { maxLength: 3 })) }),
  },
  { weight: 1, arbitrary: anyJson },
) as fc.Arbitrary<unknown>;

function counted(text: string): ReadonlyMap<string, number> {
  const families = parseExposition(text, 'text').filter(({ type }) => type === 'counter');
  const samples = families.flatMap((family) => family.samples);
  return new Map(
    samples.map(({ name, labels, value }) => [
      `${name} ${labels.filer_guid} ${labels.volume_guid} ${labels.lock_phase} ${labels.lock_state}`,
      value,
    ]),
  );
}

test('whatever GET /data answers, one time after another, it is read or is no answer, and what is exposed parses', () => {
  fc.assert(
    fc.property(fc.array(answer, { minLength: 1, maxLength: 4 }), (answers) => {
      const ledger = newLedger();
      const store = new LineStore(upstreamCatalog);
      let before: ReadonlyMap<string, number> = new Map();
      for (const [index, body] of answers.entries()) {
        const notes: DropReason[] = [];
        const note = (reason: DropReason) => notes.push(reason);
        try {
          requireEnvelope(body);
        } catch (error) {
          expect(error).toBeInstanceOf(SchemaError);
          expect(() => parseDataResponse(body, note)).toThrow(SchemaError);
          continue;
        }
        runToEnd(ledger.add(parseDataResponse(body, note), index * 1_000, note));
        store.publish('gfa/data', ledger.samples());
        const text = textOf(store);
        const now = counted(text);
        for (const [series, value] of before) expect(now.get(series) ?? value).toBeGreaterThanOrEqual(value);
        before = now;
        parseExposition(`${textOf(store, 'openmetrics')}# EOF\n`, 'openmetrics');
      }
    }),
    { numRuns: 400 },
  );
});
