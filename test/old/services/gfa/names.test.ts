import { expect, test } from 'vitest';
import { FilerNames } from '../../../src/services/filer-names.ts';
import { dataAnswer, ledgerOf, lock, type newLedger, reborn, released, take } from '../../support/gfa-answers.ts';

const filers = (ledger: ReturnType<typeof newLedger>, name: string) =>
  [...ledger.samples()].filter((sample) => sample.name === name).map(({ labels, value }) => [labels.filer, value]);

test('a filer that is renamed in the portal keeps what was counted of it, under the new name alone', () => {
  const names = new FilerNames([]);
  names.setInventory(new Map([['f1', 'leeds']]));
  names.markInventoryRead();
  const ledger = ledgerOf({ locks: [lock(1), released(2, 5)] }, { names });
  expect(filers(ledger, 'filer_lock_events_total')).toEqual([
    ['leeds', 1],
    ['leeds', 1],
  ]);
  names.setInventory(new Map([['f1', 'leeds-new']]));
  take(ledger, dataAnswer({ locks: [released(2, 5), released(9, 5)] }));
  expect(filers(ledger, 'filer_lock_events_total')).toEqual([
    ['leeds-new', 1],
    ['leeds-new', 2],
  ]);
  expect(filers(ledger, 'filer_lock_duration_seconds_count')).toEqual([['leeds-new', 2]]);
});

test('after a restart a filer goes by its last name until the inventory has been asked for', () => {
  const before = new FilerNames([]);
  before.setInventory(new Map([['f1', 'leeds']]));
  before.markInventoryRead();
  const old = ledgerOf({ locks: [lock(1)] }, { names: before });
  const after = new FilerNames([]);
  after.expectInventory();
  const ledger = reborn(old, {}, { names: after });
  expect(filers(ledger, 'filer_lock_events_total')).toEqual([['leeds', 1]]);
  after.markInventoryRead();
  expect(filers(ledger, 'filer_lock_events_total')).toEqual([['one', 1]]);
});
