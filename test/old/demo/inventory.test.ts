import { expect, test } from 'vitest';
import { get, items, start } from './ask.ts';

test('serials can be filtered by type and use, and hold more than has telemetry', async () => {
  const { mocks } = await start();
  const types = async (query: string) => items(await get(mocks, `/serials${query}`)).map(({ type }) => type);
  expect(new Set(await types(''))).toEqual(new Set(['edge', 'file_iq', 'nmc']));
  expect(await types('?type=file_iq')).toEqual(['file_iq']);
  expect(await types('?type=edge')).toHaveLength(12);
  expect(await types('?type=edge&in_use=true')).toHaveLength(11);
  expect(await types('?in_use=false')).toEqual(['edge']);
});

test('edges are keyed by an id of their own and carry the serial', async () => {
  const { mocks } = await start();
  const edges = items(await get(mocks, '/edges'));
  const fleet = mocks.fleet.appliances.filter(({ kind }) => kind === 'edge');
  expect(edges.map(({ id, serial, description, build }) => ({ id, serial, description, build }))).toEqual(
    fleet.map(({ edgeId, serial, title, build }) => ({ id: edgeId, serial, description: title, build })),
  );
  const unreachable = edges.filter((edge) => edge.is_reachable === false);
  expect(unreachable.map(({ description }) => description)).toEqual(['edge-lima']);
  const withFileIq = items(await get(mocks, '/edges?file_iq_enabled=true'));
  expect(withFileIq.length).toBeGreaterThan(0);
  expect(withFileIq.length).toBeLessThan(edges.length);
});

test('there is a connection for each volume and each appliance on it, and one owner a volume', async () => {
  const { mocks } = await start();
  const { appliances, volumes } = mocks.fleet;
  const rows = items(await get(mocks, '/volume_connections'));
  expect(rows).toHaveLength(appliances.reduce((sum, appliance) => sum + appliance.volumes.length, 0));
  expect(rows.filter((row) => row.role === 'owner').map((row) => row.volume_id)).toEqual(
    volumes.map(({ portalId }) => portalId),
  );
  expect(new Set(appliances.map(({ edgeId }) => edgeId))).toContain(rows[0]?.appliance_id);
  mocks.vary({ connectionIds: 'serial', nulls: 1 });
  const [row] = items(await get(mocks, `/volume_connections?volume_id=${volumes[1]?.portalId}`));
  expect(row).toMatchObject({ volume_name: 'design', unprotected_data: null });
  expect(new Set(appliances.map(({ serial }) => serial))).toContain(row?.appliance_id);
});
