import { expect, test } from 'vitest';
import { createLog } from '../../../src/runtime/log.ts';
import { FilerNames } from '../../../src/services/filer-names.ts';
import type { GfaClient } from '../../../src/services/gfa/client.ts';
import { GfaCollector } from '../../../src/services/gfa/collector.ts';
import {
  dataAnswer,
  ledgerOf,
  ledgerSettings,
  lock,
  type newLedger,
  reborn,
  released,
  take,
} from '../../support/gfa-answers.ts';
import { ManualClock } from '../../support/manual-clock.ts';
import { going } from '../../support/mock-api.ts';

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

test.each([
  ['is told', (names: FilerNames) => names.markInventoryRead(), 0],
  ['is not told for five seconds', () => {}, 5_000],
])('the first answer waits until the inventory %s, and the second does not', async (_, tell, waitMs) => {
  const names = new FilerNames([]);
  names.expectInventory();
  const { clock, poll } = collecting(names);
  let isDone = false;
  const first = poll().then(() => {
    isDone = true;
  });
  await clock.advance(4_999);
  expect(isDone).toBe(false);
  tell(names);
  await clock.advance(waitMs === 0 ? 0 : 1);
  await first;
  await poll();
});

function collecting(names: FilerNames) {
  const clock = new ManualClock();
  const client = { requestsSent: 0, data: () => Promise.resolve(dataAnswer({ locks: [lock(1)] })) };
  const ledger = ledgerSettings({ names });
  const collector = new GfaCollector({
    client: client as unknown as GfaClient,
    ledger,
    intervalMs: 60_000,
    keeper: undefined,
    clock,
    log: createLog('silent', { write: () => {} }),
  });
  const [task] = collector.tasks();
  return { clock, poll: () => task?.poll(going) ?? Promise.reject(new Error('there is no task')) };
}
