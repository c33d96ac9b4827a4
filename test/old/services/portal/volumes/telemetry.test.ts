import { describe, expect, test } from 'vitest';
import type { PollResult } from '../../../../src/contract/poll-result.ts';
import { NappingClock } from '../../../harness/napping-clock.ts';
import { ManualClock } from '../../../support/manual-clock.ts';
import { going, type MockApi, mockApi, type Reply, token } from '../../../support/mock-api.ts';
import { portalCollector, uuid } from '../../../support/portal-parts.ts';

const MINUTE_MS = 60_000;
const DAY_MS = 86_400_000;

const collectors = [{ name: 'volume_telemetry', intervalMs: 15 * MINUTE_MS }];

/** A portal with one appliance and these connections of volumes. */
function portalOf(connections: readonly object[], clock = new ManualClock()): MockApi {
  const api = mockApi(clock);
  api.answer('POST', '/auth/token', token('one', { expires_in: DAY_MS / 1000 }));
  api.answer('GET', '/serials', [200, { items: [{ id: uuid(1), type: 'edge' }] }], [200, {}]);
  api.answer('GET', '/edges', [200, {}]);
  api.answer('GET', '/volume_connections', [200, { items: connections }]);
  return api;
}

/** A portal with one volume, and its task for finished snapshots; `ask` polls it and gives the period that was asked for. */
async function volume(manual = new ManualClock()) {
  const api = portalOf([{ volume_id: 'v', volume_name: 'projects', appliance_id: uuid(1) }], manual);
  const clock = new NappingClock(manual);
  const collector = portalCollector({ ...api, clock } as unknown as MockApi, { series: [], collectors });
  for (const operation of ['serials', 'volume_connections', 'snapshot_details']) {
    const task = [...collector.tasks()].find((one) => one.operation === operation);
    if (operation === 'snapshot_details') {
      const ask = async () => {
        api.answer('POST', '/telemetry/volumes/v/snapshot_details', [200, { items: [] }]);
        await task?.poll(going);
        const { period, ...others } = JSON.parse(api.sent.at(-1)?.body ?? '') as { readonly period: string };
        // By default the vendor's client lets the service leave points out.
        expect(others).toEqual({ serial_numbers: [uuid(1)], smart_sampling: false });
        return period;
      };
      const refuses = (...replies: readonly Reply[]) =>
        api.answer('POST', '/telemetry/volumes/v/snapshot_details', ...replies);
      const periods = () =>
        api.sent.filter(({ path }) => path.endsWith('/snapshot_details')).map(({ body }) => JSON.parse(body).period);
      return { clock, ask, task, refuses, periods };
    }
    await task?.poll(going);
  }
  throw new Error('no task for snapshot_details');
}

test('a question reaches back to the last good answer and two intervals more', async () => {
  const { clock, ask } = await volume();
  expect(await ask()).toBe('PT1440M');
  await clock.advance(15 * MINUTE_MS);
  expect(await ask()).toBe('PT45M');
});

test.each<[string, (clock: NappingClock) => void, string]>([
  ['a clock that was set back', (clock) => clock.step(-DAY_MS), 'PT45M'],
  ['a machine that slept an hour', (clock) => clock.nap(60 * MINUTE_MS), 'PT105M'],
])('%s hides nothing from the next question', async (_, happens, period) => {
  const { clock, ask } = await volume();
  await ask();
  await clock.advance(15 * MINUTE_MS);
  happens(clock);
  expect(await ask()).toBe(period);
});

describe('after an outage of eight hours whose snapshots are too many for one answer', () => {
  const none: Reply = [200, { items: [] }];

  async function outage() {
    const { clock, ask, task, refuses, periods } = await volume(new ManualClock(Date.UTC(2026, 2, 2)));
    await ask();
    await clock.advance(8 * 60 * MINUTE_MS);
    const asked = async (...replies: readonly Reply[]) => {
      const before = periods().length;
      refuses(...replies);
      const outcome = await task?.poll(going).catch((error: unknown) => error);
      return { outcome, periods: periods().slice(before) };
    };
    return { asked };
  }

  test('the older half is asked for too and counted, and the next question is short again', async () => {
    const { asked } = await outage();
    const record = { appliance: 'a', serial_number: uuid(1), volume: 'projects', dir_count: 1 };
    const snapshot = { ...record, time: Date.UTC(2026, 2, 2, 1), volume_version: 7 };
    const { outcome, periods } = await asked([413, undefined], none, [200, { items: [snapshot] }]);
    const { samples } = outcome as PollResult;
    expect([...samples].find(({ name }) => name === 'filer_snapshots_total')).toMatchObject({ value: 1 });
    expect(periods).toEqual([
      'PT510M',
      '2026-03-02T03:45:00.000Z/2026-03-02T08:00:00.000Z',
      '2026-03-01T23:30:00.000Z/2026-03-02T03:45:00.000Z',
    ]);
    expect((await asked(none)).periods).toEqual(['PT30M']);
  });

  test('an older half that the service does not give is counted as dropped', async () => {
    const { asked } = await outage();
    const { outcome } = await asked([413, undefined], none, [422, undefined]);
    expect([...((outcome as PollResult).drops ?? [])]).toEqual([['record', 1]]);
  });

  test('the whole is asked for again if the service fails at the older half', async () => {
    const { asked } = await outage();
    const { outcome } = await asked([413, undefined], none, [404, undefined]);
    expect(outcome).toMatchObject({ status: 404 });
    expect((await asked(none, none)).periods).toEqual([
      '2026-03-02T03:45:00.000Z/2026-03-02T08:00:00.000Z',
      '2026-03-01T23:30:00.000Z/2026-03-02T03:45:00.000Z',
    ]);
  });
});

test('shards share the volumes: each is asked about by one of them', async () => {
  const connections = Array.from({ length: 12 }, (_, index) => ({ volume_id: `v${index}`, appliance_id: uuid(1) }));
  const asked: string[] = [];
  for (const index of [0, 1]) {
    const api = portalOf(connections);
    const collector = portalCollector(api, { series: [], collectors, shard: { index, total: 2 } });
    for (const name of ['serials', 'volume_connections'])
      await [...collector.tasks()].find(({ operation }) => operation === name)?.poll(going);
    const own = [...collector.tasks()].filter(({ operation }) => operation === 'snapshot_details');
    expect(own.length).toBeGreaterThan(0);
    asked.push(...own.map(({ id }) => id));
  }
  expect([asked.length, new Set(asked).size]).toEqual([12, 12]);
});
