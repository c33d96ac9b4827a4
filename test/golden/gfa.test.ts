import { test } from 'vitest';
import { newLedger, take } from '../harness/gfa-responses.ts';
import { expectExposition, recorded } from './exposition.ts';

test('a recorded response of GET /data has the exposition beside it', async () => {
  const ledger = newLedger();
  await take(ledger, recorded('gfa/data'));
  await expectExposition(ledger.samples(), 'gfa/data');
});
