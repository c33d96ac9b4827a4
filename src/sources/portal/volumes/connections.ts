import type { Fields } from '../../../metrics/family.ts';
import { type NoteDrop, type Sample, text, toSamples } from '../../../metrics/samples.ts';
import type { ApplianceIndex } from '../appliances/inventory.ts';
import { accountTasks, afterInventory, type CollectorRow } from '../collector-row.ts';
import { listed } from '../records.ts';
import { connectionTable, connectionTables } from './connections-table.ts';
import { volumeGuids } from './volume-guid.ts';

/** Every volume on every appliance, with one request for the whole account. */
export const volumes: CollectorRow = {
  name: 'volumes',
  intervalMs: 300_000,
  tables: connectionTables,
  cost: { account: 1, perAppliance: 0, perVolume: 0 },
  size: { volume: 11.2 },
  create: (parts, intervalMs) =>
    afterInventory(
      parts,
      accountTasks(parts, intervalMs, [
        {
          operation: 'volume_connections',
          path: '/volume_connections',
          *read(body, note) {
            const samples: Sample[] = [];
            for (const { labels, record } of yield* readConnections(body, parts.appliances, note)) {
              samples.push(...toSamples(connectionTable, [record], labels, note));
              yield;
            }
            return samples;
          },
        },
      ]),
    ),
};

export interface VolumeConnection {
  /** The portal's own id of the volume, for requests. */
  readonly id: string;
  /** The serial of the appliance, or undefined if the inventory does not have it. */
  readonly serial: string | undefined;
  readonly labels: {
    readonly volume_guid: string;
    readonly volume: string;
    /** The serial, or the id in the record if the inventory does not have it. */
    readonly serial: string;
    readonly filer: string;
  };
  readonly record: Fields;
}

/**
 * The rows of `GET /volume_connections`. It is not documented whether a record names an appliance by serial or by edge
 * id, so both are looked up (upstream-api.md 7). Notes and skips rows without a volume or an appliance.
 */
export function* readConnections(
  body: unknown,
  appliances: ApplianceIndex,
  note: NoteDrop,
): Generator<void, VolumeConnection[]> {
  const rows = [...listed(body, 'GET /volume_connections', note)];
  const guidOf = volumeGuids(rows.map(({ volume_id }) => text(volume_id)));
  const connections: VolumeConnection[] = [];
  for (const row of rows) {
    const [id, applianceId] = [text(row.volume_id), text(row.appliance_id)];
    if (id === '' || applianceId === '') note('record', id === '' ? 'volume_id' : 'appliance_id');
    else {
      const guid = guidOf(id);
      const appliance = appliances.find(applianceId);
      const serial = appliance?.serial ?? applianceId.toLowerCase();
      const filer = appliance?.name ?? (text(row.appliance_name) || serial);
      const labels = { volume_guid: guid, volume: text(row.volume_name) || guid, serial, filer };
      connections.push({ id, serial: appliance?.serial, labels, record: { ...row, protocol: wordsOf(row.protocol) } });
    }
    yield;
  }
  return connections;
}

/** A list of words as one label: sorted, so that the order in the answer has no effect. */
function wordsOf(list: unknown): string | undefined {
  return Array.isArray(list) ? list.map(text).sort().join(',') : undefined;
}
