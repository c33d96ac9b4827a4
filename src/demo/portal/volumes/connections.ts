import type { DemoResponse, Scene } from '../../exchange.ts';
import { json } from '../../exchange.ts';
import { type SnapshotState, snapshotState } from '../../world/snapshots.ts';
import { draw, HOUR_MS, rfc3339 } from '../../world/waveforms.ts';
import type { DemoAppliance, Volume } from '../../world/world.ts';
import { CLOUD_PROVIDERS, cloudOf } from '../account/cloud.ts';
import { type Item, item, worded } from '../item.ts';
import { type DemoOperation, get } from '../operation.ts';
import { text, texts, word, words } from '../query.ts';
import { snapshotStatus, unprotectedBytes } from './unprotected.ts';

const SORTS = [
  ...['volume_name', 'cloud_provider', 'cloud_region', 'accessible_data', 'unprotected_data'],
  ...['last_snapshot_utc', 'appliance_name'],
];
const ROLES = ['owner', 'connected'];
const PERMISSIONS = ['READONLY', 'READWRITE', 'Custom'];
const PROTOCOLS = ['NFS', 'SMB', 'FTP'];
const MODES = ['Publicly Available', 'Active Directory', 'LDAP Directory'];
const POLICIES = [
  ...['POSIX Mixed Mode', 'UNIX/NFS Permissions Only Mode', 'Unauthenticated Access Mode'],
  ...['NTFS Compatible Mode', 'NTFS Exclusive Mode', 'NTFS Multiprotocol Mode'],
];

/** The query filters of the list, and the field that each compares. */
const FILTERS: readonly (readonly [parameter: string, field: string])[] = [
  ['cloud_providers', 'cloud_provider'],
  ['protocols', 'protocol'],
  ['roles', 'role'],
  ['security_modes', 'security_mode'],
  ['permission_policies', 'permission_policy'],
  ['connection_permissions', 'connection_permission'],
  ['cloud_regions', 'cloud_region'],
  ['appliance_names', 'appliance_name'],
  ['volume_names', 'volume_name'],
];

/** `GET /volume_connections`. */
export const volumeConnectionOperations: readonly DemoOperation[] = [
  get('volume_connections', '/volume_connections', volumeConnections, {
    volume_id: text,
    search: text,
    sort_by: word(SORTS),
    sort_order: word(['asc', 'desc']),
    cloud_providers: words(CLOUD_PROVIDERS),
    protocols: words(PROTOCOLS),
    roles: words(ROLES),
    security_modes: words(MODES),
    permission_policies: words(POLICIES),
    connection_permissions: words(PERMISSIONS),
    cloud_regions: texts,
    appliance_names: texts,
    volume_names: texts,
  }),
];

/** A row for each volume and each appliance connected to it. */
function volumeConnections(scene: Scene): DemoResponse {
  const { query } = scene.request;
  const wanted = query.get('volume_id');
  const search = query.get('search')?.toLowerCase() ?? '';
  const rows = scene.world.volumes
    .filter((volume) => wanted === null || volume.portalId === wanted)
    .flatMap((volume) => rowsOf(scene, volume))
    .filter((row) => `${row.volume_name} ${row.appliance_name}`.toLowerCase().includes(search))
    .filter((row) => FILTERS.every(([parameter, field]) => fits(row[field], query.getAll(parameter))));
  const sortBy = query.get('sort_by');
  const turn = query.get('sort_order') === 'desc' ? -1 : 1;
  const sorted = sortBy === null ? rows : rows.toSorted((one, other) => turn * compared(one[sortBy], other[sortBy]));
  return json(200, { items: sorted });
}

function rowsOf(scene: Scene, volume: Volume): readonly Item[] {
  const state = snapshotState(scene.world, volume, scene.now);
  return scene.world.appliancesOf(volume).map((appliance, place) => row(scene, volume, appliance, place, state));
}

function row(scene: Scene, volume: Volume, appliance: DemoAppliance, place: number, state: SnapshotState): Item {
  const { world, variations, now } = scene;
  const name = `${appliance.serial}/${volume.guid}`;
  const last = state.finished.get(appliance.serial);
  const { provider, region } = cloudOf(world, volume);
  const status = snapshotStatus(appliance, state, now);
  return item(
    `${name}/${Math.floor(now / HOUR_MS)}`,
    {
      volume_id: volume.portalId,
      volume_name: volume.title,
      appliance_id: variations.connectionIds === 'edge' ? appliance.edgeId : appliance.serial,
      appliance_name: appliance.title,
      role: worded(name, place === 0 ? 'owner' : 'connected', 'observer', variations),
    },
    {
      accessible_data: Math.round(1e12 + 2e13 * draw(volume.guid, 'size')),
      unprotected_data: unprotectedBytes(world, appliance, volume, state, now),
      last_snapshot_utc: last === undefined ? null : rfc3339(last.metadata.endMs),
      current_snapshot_status: worded(name, status, 'hibernating', variations),
      status: 'active',
      cloud_provider: provider,
      cloud_region: region,
      protocol: ['SMB'],
      permission_policy: 'NTFS Exclusive Mode',
      security_mode: 'Active Directory',
      connection_permission: 'READWRITE',
      appliance_hostname: `${appliance.title}.example`,
      is_readonly: false,
      share_count: 1 + Math.floor(4 * draw(name, 'shares')),
      export_count: 0,
      ftp_dir_count: 0,
      pinned_folders_count: 0,
      autofault_folders_count: 0,
      snapshot_frequency: 3,
      snapshot_start: 0,
      snapshot_stop: 0,
      snapshot_days: ['Monday', 'Tuesday'],
      sync_schedule: null,
    },
    variations,
  );
}

function fits(value: unknown, wanted: readonly string[]): boolean {
  if (wanted.length === 0) return true;
  return Array.isArray(value) ? value.some((one) => wanted.includes(String(one))) : wanted.includes(String(value));
}

function compared(one: unknown, other: unknown): number {
  if (typeof one === 'number' && typeof other === 'number') return one - other;
  return String(one ?? '').localeCompare(String(other ?? ''));
}
