import { expect, test } from 'vitest';
import { keptOf, ownersOf } from '../../src/app/persisted-state.ts';
import { loadConfig } from '../../src/config/load.ts';
import { atOnce } from '../../src/runtime/slices.ts';
import type { GfaClient } from '../../src/sources/gfa/client.ts';
import { GfaCollector } from '../../src/sources/gfa/collector.ts';
import { askedUpstreams, upstreams } from '../../src/sources/upstreams.ts';
import { Budget } from '../../src/transport/rate/budget.ts';
import { dataAnswer, ledgerSettings, lock } from '../support/gfa-answers.ts';
import { ManualClock } from '../support/manual-clock.ts';
import { going, mockApi, noLog } from '../support/mock-api.ts';
import { portalCollector } from '../support/portal-parts.ts';

const config = loadConfig({
  environment: {
    ...{ GFA_URL: 'http://127.0.0.1:9/v1', GFA_TOKEN: 'x' },
    ...{ PORTAL_URL: 'http://127.0.0.1:9', PORTAL_USER_KEY: 'x' },
  },
  readFile: () => {
    throw Object.assign(new Error('none'), { code: 'ENOENT' });
  },
  services: upstreams.map(({ section }) => section),
});

/** The parts of a program that have something to keep, and all of it as one thing. */
function parts() {
  const clock = new ManualClock();
  const answers = { attempts: 1, data: () => Promise.resolve(dataAnswer({ locks: [lock(1)] })) };
  const client = answers as unknown as GfaClient;
  const settings = { ledger: ledgerSettings(), intervalMs: 60_000, keeping: undefined };
  const gfa = new GfaCollector({ ...settings, client, clock, log: noLog });
  const collectors = [{ name: 'notifications', intervalMs: 300_000 }];
  const portal = portalCollector(mockApi(clock), { series: [], collectors });
  const budget = new Budget(1_000, clock.monotonic());
  const kept = keptOf(
    ownersOf(askedUpstreams(config), config),
    [
      { api: 'gfa', budget: new Budget(undefined, clock.monotonic()), kept: gfa.kept },
      { api: 'portal', budget, kept: { counts: portal } },
    ],
    clock,
  );
  return { clock, gfa, portal, budget, kept, state: () => JSON.parse(JSON.stringify([...kept.values()])) };
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

test.each<[string, (values: Awaited<ReturnType<typeof saved>>) => unknown]>([
  [
    'what the portal’s collectors had counted',
    ([first]) => Object.assign(first.portal.notifications ?? {}, { total: 1 }),
  ],
  [
    'a time that the portal’s collectors had',
    ([first]) => Object.assign(first.portal.notifications ?? {}, { mark: '?' }),
  ],
  ['what the day’s budget had spent', ([first]) => Object.assign(first, { spent: { portal: [['x', 1]] } })],
  ['the last filer', (values) => Object.assign(values.at(-1) ?? {}, { pair: null })],
])('nothing is taken back where one thing cannot be used: %s', async (_, spoil) => {
  const values = await saved();
  spoil(values);
  const after = parts();
  const before = after.state();
  expect(() => atOnce(after.kept.restore(values, 0))).toThrow();
  expect(after.state()).toEqual(before);
});
