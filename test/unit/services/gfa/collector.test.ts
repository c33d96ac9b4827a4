import { expect, test } from 'vitest';
import { RequestError } from '../../../../src/runtime/errors.ts';
import { Secret } from '../../../../src/runtime/secret.ts';
import { FilerNames } from '../../../../src/services/filer-names.ts';
import { type GfaClientSettings, requestData } from '../../../../src/services/gfa/client.ts';
import { GfaCollector } from '../../../../src/services/gfa/collector.ts';
import { gfa } from '../../../../src/services/gfa/service.ts';
import type { JsonClient, ServiceRequest } from '../../../../src/transport/json-client.ts';
import { dataResponse, lock, newLedgerOptions } from '../../../harness/gfa-responses.ts';
import { keptLog } from '../../../harness/kept-log.ts';
import { configOf, gfaOnly } from '../../../harness/load-config.ts';
import { ManualClock } from '../../../harness/manual-clock.ts';

const { signal } = new AbortController();

/** A collector over these responses, and how often it wanted the state to be saved. */
function collectorOf(responses: readonly unknown[], names = new FilerNames([]), maxEvents = 1_000) {
  const left = [...responses];
  const { log, lines } = keptLog('warn');
  const clock = new ManualClock();
  const saves = { count: 0 };
  const collector = new GfaCollector({
    request: () => Promise.resolve(left.shift()),
    ledger: { ...newLedgerOptions(), names, maxEvents },
    intervalMs: 60_000,
    saveSoon: () => {
      saves.count += 1;
    },
    clock,
    log,
  });
  const poll = () => collector.tasks()[0]?.poll(signal) ?? Promise.reject(new Error('the collector has no task'));
  return { collector, clock, poll, saves, lines };
}

const withLock = (at: number, account = 'acc') => dataResponse({ locks: [lock(at)] }, { account });

test('the state is saved soon after a poll that counted something, and not after another', async () => {
  const { poll, saves } = collectorOf([withLock(1), withLock(1), dataResponse({}), withLock(2)]);
  const counts: number[] = [];
  for (let index = 0; index < 4; index += 1) {
    expect((await poll()).empty).toBe(false);
    counts.push(saves.count);
  }
  expect(counts).toEqual([1, 1, 1, 2]);
});

test('a token of another account begins anew, with one warning', async () => {
  const { collector, poll, lines } = collectorOf([withLock(1), withLock(2, 'other'), withLock(3, 'other')]);
  for (let index = 0; index < 3; index += 1) await poll();
  expect([collector.ledger.account, collector.ledger.memory.size, lines.length]).toEqual(['other', 2, 1]);
});

test('a full memory of events is a warning', async () => {
  const locks = Array.from({ length: 300 }, (_, index) => lock(index));
  const { collector, poll } = collectorOf([withLock(1), dataResponse({ locks })], undefined, 100);
  await poll();
  expect(collector.warnings).toEqual([]);
  await poll();
  expect(collector.warnings.map(({ code }) => code)).toEqual(['event_memory']);
});

test.each([
  ['was read', true, 1_000],
  ['was not read for five seconds', false, 5_000],
])('the first response waits until the inventory %s, and the second does not', async (_, isInventoryRead, ms) => {
  const names = new FilerNames([]);
  names.isInventoryRead = false;
  const { clock, poll } = collectorOf([withLock(1), withLock(2)], names);
  let isOver = false;
  const first = poll().then(() => {
    isOver = true;
  });
  await clock.advance(ms - 1);
  expect(isOver).toBe(false);
  names.isInventoryRead = isInventoryRead;
  await clock.advance(1);
  await first;
  await poll();
});

const settings: GfaClientSettings = {
  token: new Secret('the-key'),
  clientKey: 'two',
  clientKeyHeader: 'X-Other-client-key',
  groups: ['locks'],
};

test.each([401, 403])(
  'a key that is rejected with %d is read again, and tried once if it has changed',
  async (status) => {
    const keys = ['old', 'new', 'newer'];
    const sent: (string | undefined)[] = [];
    const send = ({ headers }: ServiceRequest) => {
      sent.push(headers?.authorization);
      return Promise.reject(new RequestError('status', 'GET /data returned an error', { status, purpose: 'events' }));
    };
    const token = new Secret('old', async () => keys.shift() ?? '');
    for (const expected of [['old'], ['old', 'old', 'new']]) {
      await expect(requestData({ send }, { ...settings, token }, signal)).rejects.toMatchObject({ status });
      expect(sent).toEqual(expected);
    }
  },
);

test('the service is sent four requests an interval at most, and its events take a part of the memory', async () => {
  const { gfa: settings, ...config } = await configOf(gfaOnly);
  if (settings === undefined) throw new Error('file acceleration is not configured');
  const limits = { limit: { requests: 4, windowMs: 60_000 }, dailyLimit: undefined, maxPerMs: 0.001, concurrency: 1 };
  expect(gfa.target(settings)).toEqual({ baseUrl: settings.url, ...limits });
  const { log } = keptLog();
  const client = { serviceClock: new ManualClock() } as unknown as JsonClient;
  const parts = { client, config, clock: new ManualClock(), log, names: new FilerNames([]), saveSoon: undefined };
  const maxEvents = (heapBytes: number) =>
    gfa
      .connect(settings, { ...parts, heapBytes })
      .ownValues?.()
      .get('filer_exporter_event_memory_limit_events');
  expect([512_000, 2 ** 40].map(maxEvents)).toEqual([1_000, 1_000_000]);
});
