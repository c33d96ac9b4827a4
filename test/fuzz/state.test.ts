import { expect, test } from 'vitest';
import { upstreamCatalog } from '../../src/catalog.ts';
import { LineStore } from '../../src/exposition/store.ts';
import { atOnce } from '../../src/runtime/slices.ts';
import { parseExposition } from '../support/exposition-parser.ts';
import fc from '../support/fast-check.ts';
import {
  dataAnswer,
  filer,
  lock,
  MIDNIGHT,
  newLedger,
  propagation,
  released,
  take,
  volume,
} from '../support/gfa-answers.ts';
import { anyJson } from './arbitraries.ts';
import { replaced } from './replaced.ts';

/** What a ledger that has seen something of everything keeps. */
function kept(): readonly unknown[] {
  const ledger = newLedger();
  const events = { locks: [lock(1), released(5, 12)], propagation: [propagation(7, 30)] };
  take(ledger, dataAnswer({ ...events, filers: [filer(8, 3)], volumes: [volume(9)] }, { account: 'a' }), MIDNIGHT);
  return JSON.parse(JSON.stringify([...ledger.state(MIDNIGHT)])) as readonly unknown[];
}

test('whatever was changed in what was kept, it is refused, or what is exposed of it parses', () => {
  const whole = kept();
  const turns = fc.array(fc.nat(20), { minLength: 1, maxLength: 6 });
  let refused = 0;
  fc.assert(
    fc.property(turns, anyJson, (where, by) => {
      const values = replaced(whole, where, by) as readonly unknown[];
      const ledger = newLedger();
      try {
        atOnce(ledger.restore(Array.isArray(values) ? values : [values], 1_000, 0));
      } catch (error) {
        // The file is put aside then, and counting begins anew.
        expect(error).toBeInstanceOf(Error);
        refused += 1;
        return;
      }
      const store = new LineStore(upstreamCatalog);
      store.publish({ task: 'gfa/data', samples: ledger.samples() });
      parseExposition(store.whole('text').toString(), 'text');
      take(ledger, dataAnswer({ locks: [lock(20)], propagation: [propagation(21, 3)] }), 2_000);
      store.publish({ task: 'gfa/data', samples: ledger.samples() });
      parseExposition(store.whole('text').toString(), 'text');
    }),
    {
      numRuns: 2_000,
      // Found once by chance: a group of records that is none became the value of a label.
      examples: [[[3, 0, 3, 0, 0], ['"']]],
    },
  );
  expect(refused).toBeGreaterThan(0);
});
