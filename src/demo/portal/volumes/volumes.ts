import type { DemoAnswer, Scene } from '../../exchange.ts';
import { json, portalError } from '../../exchange.ts';
import { snapshotState } from '../../world/snapshots.ts';
import { draw, floorTo, HOUR_MS, rfc3339 } from '../../world/waveforms.ts';
import type { SimulatedFleet, Volume } from '../../world/world.ts';
import { cloudOf } from '../account/cloud.ts';
import { type Item, item } from '../item.ts';
import { type DemoOperation, get } from '../operation.ts';
import { snapshotStatus } from './unprotected.ts';

const DAY_MS = 24 * HOUR_MS;

/** The volumes: list, one, its details, its history, and the snapshot of one appliance. */
export const volumeOperations: readonly DemoOperation[] = [
  get('volumes', '/volumes', (scene) => {
    const items = scene.world.volumes.toSorted((one, other) => one.title.localeCompare(other.title));
    return json(200, { items: items.map((volume) => base(scene, volume)) });
  }),
  get('volume', '/volumes/{volume_id}', (scene, { volume_id = '' }) =>
    about(scene, volume_id, (volume) => ({ ...base(scene, volume), ...flat(scene, volume) })),
  ),
  get('volume_details', '/volumes/{volume_id}/details', (scene, { volume_id = '' }) =>
    about(scene, volume_id, (volume) => details(scene, volume)),
  ),
  get('capacity_history', '/volumes/{volume_id}/capacity-history', (scene, { volume_id = '' }) =>
    about(scene, volume_id, (volume) => ({ volume_id, data_points: history(volume, scene.now) })),
  ),
  get(
    'snapshot_status',
    '/volumes/{volume_id}/edges/{edge_id}/snapshots',
    (scene, { volume_id = '', edge_id = '' }) => {
      const volume = volumeOf(scene.world, volume_id);
      const appliance =
        volume && scene.world.appliancesOf(volume).find(({ edgeId }) => edgeId === edge_id.toLowerCase());
      if (appliance === undefined) return portalError(404, 'The volume is not connected to this edge');
      const state = snapshotState(scene.world, volume as Volume, scene.now);
      return json(200, { volume_id, edge_id, current_snapshot_status: snapshotStatus(appliance, state, scene.now) });
    },
  ),
];

/** The volume of a portal id. */
export function volumeOf(world: SimulatedFleet, portalId: string): Volume | undefined {
  return world.volumes.find((volume) => volume.portalId === portalId);
}

function about(scene: Scene, portalId: string, tell: (volume: Volume) => Item): DemoAnswer {
  const volume = volumeOf(scene.world, portalId);
  return volume === undefined ? portalError(404, 'Unknown volume') : json(200, tell(volume));
}

function base({ world, variations }: Scene, volume: Volume): Item {
  const told = { description: volume.title, remote_access_enabled: true, provider: cloudOf(world, volume).provider };
  return item(volume.guid, { id: volume.portalId }, told, variations);
}

function flat(scene: Scene, volume: Volume): Item {
  const { world, variations } = scene;
  return item(
    `${volume.guid}/flat`,
    { gfl: true, lock_server: 'locks-1', gfa_mode: volume.mode === 'Active' },
    {
      edges: edgesOf(world, volume),
      location: cloudOf(world, volume).region,
      used_capacity: '10.5 TB',
      percent_capacity_used: 42,
      compression_data_reduction_percent: 17,
      share_features: null,
    },
    variations,
  );
}

function details({ world, variations }: Scene, volume: Volume): Item {
  const { provider, region, credential } = cloudOf(world, volume);
  return item(
    `${volume.guid}/details`,
    { volume_id: volume.portalId },
    {
      volume_name: volume.title,
      edges: edgesOf(world, volume),
      cloud_provider: provider,
      cloud_region: region,
      bucket: `bucket-${volume.guid.slice(0, 8)}`,
      used_capacity: '10.5 TB',
      percent_capacity_used: 42,
      compression_percent: 17,
      protocol: ['SMB'],
      permission_policy: 'NTFS Exclusive Mode',
      security_mode: 'Active Directory',
      connection_permission: 'READWRITE',
      case_sensitive: false,
      remote_access_enabled: true,
      antiransom_enabled: true,
      antivirus_enabled: true,
      safe_delete_enabled: true,
      audit_enabled: true,
      audit_output_type: 'syslog',
      snapshot_retention: 'Unlimited',
      encryption_keys: [],
      chunk_size: 1_048_576,
      compression: true,
      dedupe: true,
      volume_version: '4711',
      cloud_credential_name: credential,
      cloud_credential_hostname: null,
      cloud_credential_note: null,
    },
    variations,
  );
}

function edgesOf(world: SimulatedFleet, volume: Volume): Item | null {
  const [master, ...connected] = world.appliancesOf(volume);
  if (master === undefined) return null;
  const ids = connected.map(({ edgeId }) => edgeId);
  return { master: { id: master.edgeId, description: master.title }, connected: ids, connected_count: ids.length };
}

/** One point a day for the last 30 days; a volume grows a little each day. */
function history(volume: Volume, now: number): readonly Item[] {
  const today = floorTo(now, DAY_MS);
  return Array.from({ length: 30 }, (_, place) => {
    const day = today - (29 - place) * DAY_MS;
    const bytes = 1e12 + 2e13 * draw(volume.guid, 'size') + (day / DAY_MS) * 1e8;
    return { timestamp: rfc3339(day), bytes_in_cloud: Math.round(bytes) };
  });
}
