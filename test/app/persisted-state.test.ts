import { expect, test } from 'vitest';
import { persistedOf } from '../../src/app/persisted-state.ts';
import { atOnce } from '../../src/runtime/slices.ts';
import type { GfaClient } from '../../src/sources/gfa/client.ts';
import { GfaCollector } from '../../src/sources/gfa/collector.ts';
import { Budget } from '../../src/transport/rate/budget.ts';
import { dataAnswer, ledgerSettings, lock } from '../support/gfa-answers.ts';
import { ManualClock } from '../support/manual-clock.ts';
import { going, mockApi, noLog } from '../support/mock-api.ts';
import { portalCollector } from '../support/portal-parts.ts';

/** The parts of a program that have something to keep, and all of it as one thing. */
function parts() {
  const clock = new ManualClock();
  const answers = { attempts: 1, data: () => Promise.resolve(dataAnswer({ locks: [lock(1)] })) };
  const client = answers as unknown as GfaClient;
  const settings = { ledger: ledgerSettings(), intervalMs: 60_000, keeper: undefined };
  const gfa = new GfaCollector({ ...settings, client, clock, log: noLog });
  const collectors = [{ name: 'notifications', intervalMs: 300_000 }];
  const portal = portalCollector(mockApi(clock), { series: [], collectors });
  const budget = new Budget(1_000, clock.monotonic());
  const kept = persistedOf(
    [
      { api: 'gfa', budget: new Budget(undefined, clock.monotonic()), lines: gfa },
      { api: 'portal', budget, counts: portal },
    ],
    clock,
  );
  return { clock, gfa, portal, budget, kept, state: () => JSON.parse(JSON.stringify([...kept.state()])) };
}

/** What a program keeps that has counted a lock and spent a request. */
async function saved(): Promise<[first: { portal: Record<string, object>; spent: object }, ...rest: object[]]> {
  const { gfa, budget, clock, state } = parts();
  await gfa.tasks()[0]?.poll(going);
  budget.spend(clock.monotonic());
  return state();
}

test('all that was kept is taken back', async () => {
  const values = await saved();
  const after = parts();
  atOnce(after.kept.restore(values, 0));
  expect(after.state()).toEqual(values);
});
