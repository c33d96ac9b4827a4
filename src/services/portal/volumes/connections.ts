import type { Family, JsonObject } from '../../../metrics/family.ts';
import { labelValue, type ReportDrop } from '../../../metrics/samples.ts';
import { booleanValue, bytes, date, enumValue, infoOne, unitless } from '../../../metrics/units.ts';
import type { CollectorDefinition, PortalContext } from '../context.ts';

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

const SNAPSHOT_STATUS = [
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
  },
  {
    name: 'filer_volume_snapshot_status',
    help: 'Always 1: the status of the appliance’s current snapshot of the volume.',
    from: enumValue,
    fields: { current_snapshot_status: {} },
    enumLabels: { status: { field: 'current_snapshot_status', documentedValues: SNAPSHOT_STATUS } },
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
  },
  {
    name: 'filer_volume_cached_folders',
    help: 'Folders of the volume that the appliance keeps in its cache: pinned, or cached automatically.',
    from: unitless,
    fields: {
      pinned_folders_count: { setting: 'pinned' },
      autofault_folders_count: { setting: 'autofault' },
    },
  },
] as const satisfies readonly Family[];

export const volumes: CollectorDefinition = {
  name: 'volumes',
  intervalMs: 300_000,
  reads: [
    {
      path: '/volume_connections',
      key: ['volume_id', 'appliance_id'],
      perObject: [
        {
          families: connectionTable,
          labels: volumeApplianceLabels,
          *of(records, { appliances }, reportDrop) {
            for (const { labels, record } of connectionsIn(records, appliances, reportDrop)) yield [labels, record];
          },
        },
      ],
    },
  ],
};

/** The connections with their labels. `appliance_id` may be a serial or an edge id, which is not documented. `serial` is undefined if the appliance is not in the inventory. */
export function* connectionsIn(
  records: readonly JsonObject[],
  appliances: PortalContext['appliances'],
  reportDrop: ReportDrop,
) {
  const guidOf = volumeGuids(records.map(({ volume_id }) => labelValue(volume_id)));
  for (const record of records) {
    const [id, applianceId] = [labelValue(record.volume_id), labelValue(record.appliance_id)];
    if (id === '' || applianceId === '') {
      reportDrop('record', id === '' ? 'volume_id' : 'appliance_id');
      continue;
    }
    const guid = guidOf(id);
    const appliance = appliances.find(applianceId);
    const serial = appliance?.serial ?? applianceId.toLowerCase();
    const filer = appliance?.name ?? (labelValue(record.appliance_name) || serial);
    const labels = { volume_guid: guid, volume: labelValue(record.volume_name) || guid, serial, filer };
    yield { id, serial: appliance?.serial, labels, record: { ...record, protocol: joinSorted(record.protocol) } };
  }
}

/** A list as one label value, sorted, so that its order in the response has no effect. */
function joinSorted(list: unknown): string | undefined {
  return Array.isArray(list) ? list.map(labelValue).sort().join(',') : undefined;
}

/**
 * Maps portal ids of volumes to the guids of file acceleration: the uuid in lower case, without the number that some
 * portal ids have at the end. Two ids that differ only in this number keep it.
 */
export function volumeGuids(ids: Iterable<string>): (id: string) => string {
  const owners = new Map<string, string>();
  const shared = new Set<string>();
  for (const id of ids) {
    const [lowerCaseId, uuid] = [id.toLowerCase(), volumeUuid(id)];
    const owner = owners.get(uuid);
    if (owner === undefined) owners.set(uuid, lowerCaseId);
    else if (owner !== lowerCaseId) shared.add(uuid);
  }
  return (id) => (shared.has(volumeUuid(id)) ? id.toLowerCase() : volumeUuid(id));
}

/** The id in lower case, without a number at the end. */
export function volumeUuid(id: string): string {
  return id.toLowerCase().replace(/_\d+$/, '');
}
