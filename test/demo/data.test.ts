import { expect, test } from 'vitest';
import type { MockServices } from '../../src/demo/mock-services.ts';
import { HOUR_MS, MINUTE_MS } from '../../src/demo/world/waveforms.ts';
import { data, type Fields, group, start } from './ask.ts';

const eventNames = (records: readonly Fields[]) =>
  records.map(({ filer_guid, volume_guid, timestamp, lock_state, kind, prop_seconds }) =>
    [filer_guid, volume_guid, timestamp, lock_state, kind, prop_seconds].join(' '),
  );

async function events(standIn: MockServices, client = 'exporter'): Promise<readonly string[]> {
  const heard = await data(standIn, '', { 'X-Service-client-key': client });
  return eventNames([...group(heard, 'locks'), ...group(heard, 'propagation')]);
}

test('the first call has every group, with history and state at hand', async () => {
  const { standIn } = await start();
  const heard = await data(standIn);
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
  const { standIn, clock } = await start();
  const seen = [...(await events(standIn))];
  expect(await events(standIn)).toEqual([]);
  for (let minute = 0; minute < 30; minute += 1) {
    await clock.advance(MINUTE_MS);
    seen.push(...(await events(standIn)));
  }
  standIn.vary({ freshHistoryMs: HOUR_MS + 30 * MINUTE_MS });
  const whole = await events(standIn, 'another client');
  expect(seen).toHaveLength(whole.length);
  expect(new Set(seen)).toEqual(new Set(whole));
});

test('each client key has bookmarks of its own, and no key is a key too', async () => {
  const { standIn } = await start();
  const first = await events(standIn, 'one');
  expect(await events(standIn, 'other')).toEqual(first);
  expect(await events(standIn, 'swagger client')).toEqual(first);
  expect(group(await data(standIn), 'locks')).toEqual([]);
});

test('a group that is switched off keeps its bookmark', async () => {
  const { standIn } = await start();
  await data(standIn, '?lock_metrics=false');
  expect(group(await data(standIn), 'propagation')).toEqual([]);
  standIn.vary({ freshHistoryMs: 0 });
  expect(group(await data(standIn, '', { 'X-Service-client-key': 'fresh' }), 'locks')).toEqual([]);
});
