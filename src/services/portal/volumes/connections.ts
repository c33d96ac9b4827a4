import type { Family, JsonObject } from '../../../metrics/family.ts';
import { labelValue, type ReportDrop, type Sample, toSamples } from '../../../metrics/samples.ts';
import { booleanValue, bytes, date, enumValue, infoOne, unitless } from '../../../metrics/units.ts';
import { iterateInSlices } from '../../../runtime/slices.ts';
import type { CollectorDefinition } from '../collector-definition.ts';
import type { PortalContext } from '../context.ts';
import { collectAll } from '../records.ts';
import { volumeGuids } from './volume-guid.ts';

const SECURITY_MODES = ['Publicly Available', 'Active Directory', 'LDAP Directory'] as const;
const PERMISSION_POLICIES = [
  'POSIX Mixed Mode',
  'UNIX/NFS Permissions Only Mode',
  'Unauthenticated Access Mode',
  'NTFS Compatible Mode',
  'NTFS Exclusive Mode',
  'NTFS Multiprotocol Mode',
] as const;

export const volumeApplianceLabels = ['volume_guid', 'volume', 'serial', 'filer'] as const;

export const SNAPSHOT_STATUS = [
  'idle',
  'pending',
  'in_progress',
  'succeeded',
  'failed',
  'cancelling',
  'cancelled',
  'cancel_rejected',
  'up_to_date',
] as const;

const connectionTable = [
  {
    name: 'filer_volume_unprotected_bytes',
    help: 'Data of the volume on this appliance that is not yet in cloud storage; missing until the appliance has reported.',
    from: bytes,
    fields: { unprotected_data: {} },
  },
  {
    name: 'filer_volume_accessible_bytes',
    help: 'Data of the volume that can be reached through this appliance.',
    from: bytes,
    fields: { accessible_data: {} },
  },
  {
    name: 'filer_volume_last_snapshot_timestamp_seconds',
    help: 'Time of this appliance’s last snapshot of the volume; missing if there is none.',
    from: date,
    fields: { last_snapshot_utc: {} },
    optional: true,
  },
  {
    name: 'filer_volume_snapshot_status',
    help: 'Status of the current snapshot as a state set: 1 for the current status, 0 for the others.',
    from: enumValue,
    fields: { current_snapshot_status: {} },
    states: { label: 'status', documentedValues: SNAPSHOT_STATUS },
  },
  {
    name: 'filer_volume_connection_info',
    help: 'Always 1: how the appliance is connected to the volume, and where the volume is stored.',
    from: infoOne,
    fields: { volume_id: {} },
    enumLabels: {
      role: { field: 'role' },
      cloud_provider: { field: 'cloud_provider' },
      protocols: { field: 'protocol' },
      security_mode: { field: 'security_mode', documentedValues: SECURITY_MODES },
      permission_policy: { field: 'permission_policy', documentedValues: PERMISSION_POLICIES },
      connection_permission: { field: 'connection_permission', documentedValues: ['READONLY', 'READWRITE', 'Custom'] },
    },
    fieldLabels: { cloud_region: 'cloud_region' },
  },
  {
    name: 'filer_volume_read_only',
    help: '1 when the appliance may only read the volume, else 0.',
    from: booleanValue,
    fields: { is_readonly: {} },
    optional: true,
  },
  {
    name: 'filer_volume_shares',
    help: 'Shares of the volume on the appliance, by protocol: SMB shares, NFS exports, FTP directories.',
    from: unitless,
    fields: {
      share_count: { protocol: 'smb' },
      export_count: { protocol: 'nfs' },
      ftp_dir_count: { protocol: 'ftp' },
    },
    optional: true,
  },
  {
    name: 'filer_volume_cached_folders',
    help: 'Folders of the volume that the appliance keeps in its cache: pinned, or cached automatically.',
    from: unitless,
    fields: {
      pinned_folders_count: { setting: 'pinned' },
      autofault_folders_count: { setting: 'autofault' },
    },
    optional: true,
  },
] as const satisfies readonly Family[];

export const volumes: CollectorDefinition = {
  name: 'volumes',
  intervalMs: 300_000,
  tables: [{ source: 'GET /volume_connections', commonLabels: volumeApplianceLabels, families: connectionTable }],
  sampleCounts: { volume: 11.2 },
  waitsForInventory: true,
  reads: [
    {
      path: '/volume_connections',
      create: (context) => ({
        async read({ records, reportDrop }) {
          const samples: Sample[] = [];
          for await (const { labels, record } of readConnections(records, context, reportDrop)) {
            samples.push(...toSamples(connectionTable, [record], labels, reportDrop));
          }
          return samples;
        },
      }),
    },
  ],
};

/** The connections with their labels. `appliance_id` may be a serial or an edge id, which is not documented. `serial` is undefined if the appliance is not in the inventory. */
export async function* readConnections(
  records: AsyncIterable<JsonObject> | Iterable<JsonObject>,
  { appliances, clock }: Pick<PortalContext, 'appliances' | 'clock'>,
  reportDrop: ReportDrop,
) {
  const rows = await collectAll(records);
  const guidOf = volumeGuids(rows.map(({ volume_id }) => labelValue(volume_id)));
  for await (const row of iterateInSlices(rows, clock)) {
    const [id, applianceId] = [labelValue(row.volume_id), labelValue(row.appliance_id)];
    if (id === '' || applianceId === '') {
      reportDrop('record', id === '' ? 'volume_id' : 'appliance_id');
      continue;
    }
    const guid = guidOf(id);
    const appliance = appliances.find(applianceId);
    const serial = appliance?.serial ?? applianceId.toLowerCase();
    const filer = appliance?.name ?? (labelValue(row.appliance_name) || serial);
    const labels = { volume_guid: guid, volume: labelValue(row.volume_name) || guid, serial, filer };
    yield { id, serial: appliance?.serial, labels, record: { ...row, protocol: joinSorted(row.protocol) } };
  }
}

/** A list as one label value, sorted, so that its order in the response has no effect. */
function joinSorted(list: unknown): string | undefined {
  return Array.isArray(list) ? list.map(labelValue).sort().join(',') : undefined;
}
