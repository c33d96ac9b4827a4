import { createHash } from 'node:crypto';
import { expect, test } from 'vitest';
import { keptOf, ownersOf } from '../../src/app/persisted-state.ts';
import { upstreamCatalog } from '../../src/catalog.ts';
import { loadConfig } from '../../src/config/load.ts';
import { LineStore } from '../../src/exposition/store.ts';
import { CountingStart } from '../../src/runtime/counting-start.ts';
import type { GfaClient } from '../../src/sources/gfa/client.ts';
import { GfaCollector } from '../../src/sources/gfa/collector.ts';
import { NotificationLedger } from '../../src/sources/portal/account/notifications.ts';
import { askedUpstreams, upstreams } from '../../src/sources/upstreams.ts';
import { StateKeeper } from '../../src/state/keeper.ts';
import { Budget } from '../../src/transport/rate/budget.ts';
import { parseExposition } from '../support/exposition-parser.ts';
import fc from '../support/fast-check.ts';
import {
  dataAnswer,
  filer,
  ledgerSettings,
  lock,
  propagation,
  released,
  take,
  volume,
} from '../support/gfa-answers.ts';
import { ManualClock } from '../support/manual-clock.ts';
import { MemoryStore } from '../support/memory-store.ts';
import { type MockApi, noLog } from '../support/mock-api.ts';
import { portalCollector } from '../support/portal-parts.ts';
import { anyJson } from './arbitraries.ts';
import { replaced } from './replaced.ts';

const DAILY_LIMIT = 4_000;
const MINUTE_MS = 60_000;

/** Both services, and nothing else. */
const config = loadConfig({
  environment: {
    ...{ GFA_URL: 'https://gfa.test/v1', GFA_TOKEN: 't' },
    ...{ PORTAL_URL: 'https://portal.test', PORTAL_USER_KEY: 'k' },
  },
  readFile: () => {
    throw Object.assign(new Error('none'), { code: 'ENOENT' });
  },
  services: upstreams.map(({ section }) => section),
});

/** All of the program that keeps something, with nothing to ask. */
function program(clock: ManualClock) {
  const ledger = ledgerSettings({ mostEvents: 1_000 });
  const settings = { ledger, intervalMs: MINUTE_MS, keeping: undefined };
  const gfa = new GfaCollector({ ...settings, client: { attempts: 0 } as GfaClient, clock, log: noLog });
  const nobody = { clock, client: undefined } as unknown as MockApi;
  const portal = portalCollector(nobody, { collectors: [{ name: 'notifications', intervalMs: 300_000 }] });
  const budget = new Budget(DAILY_LIMIT, clock.monotonic());
  const kept = keptOf(
    ownersOf(askedUpstreams(config), config),
    [
      { api: 'gfa', budget: new Budget(undefined, clock.monotonic()), kept: gfa.kept },
      { api: 'portal', budget, kept: { counts: portal } },
    ],
    clock,
  );
  return { gfa, portal, budget, kept, values: () => JSON.stringify([...kept.values()]) };
}

/** The values of a state file that holds something of everything, its first line included. */
async function written(): Promise<readonly unknown[]> {
  const clock = new ManualClock();
  const { gfa, portal, budget, kept } = program(clock);
  const events = { locks: [lock(1), released(5, 12)], propagation: [propagation(7, 30)] };
  take(gfa.ledger, dataAnswer({ ...events, filers: [filer(8, 3)], volumes: [volume(9)] }, { account: 'a' }));
  const notifications = new NotificationLedger(new CountingStart(clock));
  const notice = { id: 'n', severity: 'ALERT', category: 'c', generated_at: new Date(clock.now()).toISOString() };
  notifications.take(notice, () => {});
  notifications.ended(clock.now() / 1000);
  portal.restore({ notifications: notifications.state() }, 0)();
  for (const minute of [0, 0, 1]) budget.spend(minute * MINUTE_MS);
  await clock.advance(MINUTE_MS);
  const store = new MemoryStore();
  const keeper = new StateKeeper(store, clock, noLog);
  await keeper.load(kept);
  await keeper.save();
  const [, ...lines] = (store.content?.toString('utf8') ?? '').trimEnd().split('\n');
  return lines.map((line) => JSON.parse(line) as unknown);
}

/** A number that JSON can write and no program can hold. */
const BEYOND = ['1e400', '-1e400'] as const;

/** The file with these values, as a hand would write it that knows how to make the checksum. */
function fileOf(values: readonly unknown[]): Buffer {
  let text = values.map((value) => `${JSON.stringify(value)}\n`).join('');
  for (const number of BEYOND) text = text.replaceAll(JSON.stringify(`<${number}>`), number);
  const sha256 = createHash('sha256').update(text).digest('hex');
  return Buffer.from(`${JSON.stringify({ program: 'filer-exporter state', version: 1, sha256 })}\n${text}`);
}

/** A program that has read a file, with what came of that. */
async function started(store: MemoryStore, clock: ManualClock) {
  const parts = program(clock);
  const keeper = new StateKeeper(store, clock, noLog);
  await keeper.load(parts.kept);
  return { ...parts, keeper };
}

function expectServes({ gfa, portal, budget }: ReturnType<typeof program>, clock: ManualClock): void {
  const now = clock.monotonic();
  expect(Number.isInteger(budget.remaining(now))).toBe(true);
  expect(budget.remaining(now)).toBeLessThanOrEqual(DAILY_LIMIT);
  expect(Number.isFinite(budget.earliest(now))).toBe(true);
  const notifications = new NotificationLedger(new CountingStart(clock));
  notifications.restore(portal.state().notifications, 0)();
  expect(new Date(notifications.from(clock.now() / 1000) * 1000).toISOString()).toMatch(/^20/);
  const store = new LineStore(upstreamCatalog);
  store.publish({ task: 'gfa/data', samples: gfa.ledger.samples() });
  store.publish({ task: 'portal/notifications', samples: notifications.samples() });
  parseExposition(store.whole('text').toString(), 'text');
  parseExposition(`${store.whole('openmetrics').toString()}# EOF\n`, 'openmetrics');
}

/** What was once taken though it is nothing to go on from: where it stands, and what stood there. */
const ONCE_TAKEN: [where: number[], by: unknown][] = [
  [[0, 0], '<-1e400>'],
  [[1], null],
  [[1, 0], null],
  [[1, 0, 0, 0, 0], 'a minute'],
  [[1, 0, 0, 0, 1], -5],
  [[1, 1], null],
  [[1, 1, 0], []],
  [[1, 1, 0, 1], 'yesterday'],
  [[1, 1, 0, 2], 'yesterday'],
  [[1, 1, 0, 3], { n: 1 }],
  [[1, 1, 0, 4, 0, 0, 1], {}],
  [[1, 1, 0, 4, 0, 1], null],
  [[1, 1, 0, 6, 0, 1], 'now'],
];

const turns = fc.array(fc.nat(20), { minLength: 1, maxLength: 8 });
const value = fc.oneof(
  { weight: 8, arbitrary: anyJson },
  { weight: 1, arbitrary: fc.constantFrom(...BEYOND.map((number) => `<${number}>`)) },
);

test('whatever was changed in the state file, nothing of it is taken, or all of it and it can be served and kept again', async () => {
  const whole = await written();
  const pristine = program(new ManualClock()).values();
  const counts = { refused: 0, taken: 0 };
  await fc.assert(
    fc.asyncProperty(turns, value, async (where, by) => {
      const changed = replaced(whole, where, by);
      const store = new MemoryStore();
      store.content = fileOf(Array.isArray(changed) ? changed : [changed]);
      const clock = new ManualClock();
      const first = await started(store, clock);
      if (first.keeper.errors > 0) {
        counts.refused += 1;
        expect(store.asides).toHaveLength(1);
        expect(first.values()).toBe(pristine);
        return;
      }
      counts.taken += 1;
      expectServes(first, clock);
      await first.keeper.save();
      const second = await started(store, clock);
      expect(second.keeper.errors).toBe(0);
      expect(second.values()).toBe(first.values());
    }),
    { numRuns: 800, examples: ONCE_TAKEN },
  );
  expect(counts.refused).toBeGreaterThan(100);
  expect(counts.taken).toBeGreaterThan(100);
});
