import { expect, test } from 'vitest';
import type { MockServices } from '../../src/demo/mock-services.ts';
import { HOUR_MS, MINUTE_MS } from '../../src/demo/world/waveforms.ts';
import { data, type Fields, group, start } from './ask.ts';

const eventNames = (records: readonly Fields[]) =>
  records.map(({ filer_guid, volume_guid, timestamp, lock_state, kind, prop_seconds }) =>
    [filer_guid, volume_guid, timestamp, lock_state, kind, prop_seconds].join(' '),
  );

async function events(mocks: MockServices, client = 'exporter'): Promise<readonly string[]> {
  const heard = await data(mocks, '', { 'X-Service-client-key': client });
  return eventNames([...group(heard, 'locks'), ...group(heard, 'propagation')]);
}

test('the first call has every group, with history and state at hand', async () => {
  const { mocks } = await start();
  const heard = await data(mocks);
  const { info, version, flags } = heard.json as { info: Fields; version: number; flags: Fields };
  expect({ version, flags }).toEqual({ version: 1, flags: {} });
  expect(new Set(Object.keys(info))).toEqual(
    new Set(['account', 'last_info', 'last_lock_event', 'last_propagation', 'request_time', 'volumes']),
  );
  expect(group(heard, 'volumes')).toHaveLength(5);
  expect(group(heard, 'filers').filter((record) => record.volume_guid === undefined)).toHaveLength(12);
  expect(group(heard, 'locks').length).toBeGreaterThan(200);
  expect(group(heard, 'propagation').length).toBeGreaterThan(200);
});

test('incremental delivery gives each event once', async () => {
  const { mocks, clock } = await start();
  const seen = [...(await events(mocks))];
  expect(await events(mocks)).toEqual([]);
  for (let minute = 0; minute < 30; minute += 1) {
    await clock.advance(MINUTE_MS);
    seen.push(...(await events(mocks)));
  }
  mocks.vary({ freshHistoryMs: HOUR_MS + 30 * MINUTE_MS });
  const whole = await events(mocks, 'another client');
  expect(seen).toHaveLength(whole.length);
  expect(new Set(seen)).toEqual(new Set(whole));
});

test('each client key has bookmarks of its own, and no key is a key too', async () => {
  const { mocks } = await start();
  const first = await events(mocks, 'one');
  expect(await events(mocks, 'other')).toEqual(first);
  expect(await events(mocks, 'swagger client')).toEqual(first);
  expect(group(await data(mocks), 'locks')).toEqual([]);
});

test('a group that is switched off keeps its bookmark', async () => {
  const { mocks } = await start();
  await data(mocks, '?lock_metrics=false');
  expect(group(await data(mocks), 'propagation')).toEqual([]);
  mocks.vary({ freshHistoryMs: 0 });
  expect(group(await data(mocks, '', { 'X-Service-client-key': 'fresh' }), 'locks')).toEqual([]);
});
