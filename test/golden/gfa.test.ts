import { test } from 'vitest';
import { newLedger, take } from '../harness/gfa-responses.ts';
import { expectExposition, recorded } from './exposition.ts';

test.each([
  ['with metrics as a list, split over two objects', 'data'],
  ['with metrics as one object, in which groups are missing', 'data-object'],
])('GET /data %s has the exposition beside it', async (_, name) => {
  const ledger = newLedger({ bounds: [10, 60, 3600] });
  await take(ledger, recorded(`gfa/${name}`));
  await expectExposition(ledger.samples(), `gfa/${name}`);
});
