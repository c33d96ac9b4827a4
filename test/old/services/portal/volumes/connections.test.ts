import { describe, expect, test } from 'vitest';
import type { JsonObject } from '../../../../src/metrics/family.ts';
import { ApplianceIndex } from '../../../../src/services/portal/appliances/appliance-index.ts';
import type { Appliance } from '../../../../src/services/portal/appliances/inventory.ts';
import type { PortalClient } from '../../../../src/services/portal/client.ts';
import { createTasks } from '../../../../src/services/portal/collector-definition.ts';
import { readConnections, volumes } from '../../../../src/services/portal/volumes/connections.ts';
import { ManualClock } from '../../../support/manual-clock.ts';
import { going, mockApi, noLog } from '../../../support/mock-api.ts';
import { portalCollector, uuid } from '../../../support/portal-parts.ts';
import { discover, ids, list, portal } from '../discovery.ts';

const A = uuid(0xa);
const EDGE_ID = uuid(0xe);
const appliance: Appliance = { serial: A, edgeId: EDGE_ID, name: 'lyon', type: 'edge', build: '', availableBuild: '' };

const index = new ApplianceIndex({ serials: undefined, shard: { index: 0, total: 1 } }, noLog);
index.replace(new Map([[A, appliance]]), () => {});
index.markInventoryRead();

function row(appliance_id: unknown, more: object = {}) {
  return { volume_id: 'v_0', volume_name: 'projects', appliance_id, appliance_name: 'as told', role: 'owner', ...more };
}

async function labelsOf(...rows: readonly JsonObject[]) {
  const labels: unknown[] = [];
  const parts = { appliances: index, clock: new ManualClock() };
  for await (const one of readConnections(rows, parts, () => {})) labels.push(one.labels);
  return labels;
}

describe('the appliance of a connection', () => {
  test.each([
    ['the serial', A],
    ['the id of its edge', EDGE_ID],
    ['either in upper case', EDGE_ID.toUpperCase()],
  ])('is found by %s, and has the name of the inventory', async (_, id) => {
    expect(await labelsOf(row(id))).toEqual([{ volume_guid: 'v', volume: 'projects', serial: A, filer: 'lyon' }]);
  });

  test('that the inventory does not have goes by what the portal calls it', async () => {
    expect(await labelsOf(row('UNKNOWN'))).toEqual([
      { volume_guid: 'v', volume: 'projects', serial: 'unknown', filer: 'as told' },
    ]);
  });
});

test('the volumes are asked for once the inventory was: before that nothing has a name', async () => {
  const collector = portalCollector(portal(list(), list(), list()), {
    series: [],
    collectors: [{ name: 'volumes', intervalMs: 300_000 }],
  });
  expect(ids(collector)).toEqual(['portal/inventory']);
  await discover(collector);
  expect(ids(collector)).toEqual(['portal/inventory', 'portal/volume_connections']);
});

test('the volumes of 2,000 appliances, six on each, are read', async () => {
  const items = Array.from({ length: 12_000 }, (_, id) =>
    row(uuid(id % 2_000), { volume_id: `volume_${id}`, unprotected_data: 1, current_snapshot_status: 'failed' }),
  );
  const { context } = portalCollector(mockApi());
  const client = { send: () => Promise.resolve({ items }) } as unknown as PortalClient;
  const [task] = createTasks(volumes, { ...context, client, appliances: index }, 300_000)();
  const result = await task?.poll(going);
  const names = Array.from(result?.samples ?? [], ({ name }) => name);
  expect(names.filter((name) => name === 'filer_volume_unprotected_bytes')).toHaveLength(items.length);
});
