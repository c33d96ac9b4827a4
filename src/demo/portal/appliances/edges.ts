import type { DemoResponse, Scene } from '../../exchange.ts';
import { json, portalError } from '../../exchange.ts';
import { lostAt } from '../../world/reach.ts';
import { floorTo, MINUTE_MS, rfc3339 } from '../../world/waveforms.ts';
import type { DemoAppliance } from '../../world/world.ts';
import { type Item, item } from '../item.ts';
import { type DemoOperation, get, type Parameters } from '../operation.ts';
import { truth } from '../query.ts';

/** The edge appliances: list and one. */
export const edgeOperations: readonly DemoOperation[] = [
  get('edges', '/edges', edges, { s3_edge_enabled: truth, file_iq_enabled: truth }),
  get('edge', '/edges/{edge_id}', edge),
];

/** The edge appliances only; none of them has the object service. */
function edges(scene: Scene): DemoResponse {
  const { query } = scene.request;
  const [s3Edge, fileIq] = [query.get('s3_edge_enabled'), query.get('file_iq_enabled')];
  const items = scene.world.appliances
    .filter((appliance) => appliance.kind === 'edge' && s3Edge !== 'true')
    .filter((appliance) => fileIq === null || String(appliance.disks.has('file_iq')) === fileIq)
    .map((appliance) => ({ ...common(scene, appliance, appliance.build), ...state(scene, appliance) }));
  return json(200, { items });
}

function edge(scene: Scene, { edge_id = '' }: Parameters): DemoResponse {
  const found = scene.world.appliances.find(
    (appliance) => appliance.kind === 'edge' && appliance.edgeId === edge_id.toLowerCase(),
  );
  return found === undefined ? portalError(404, 'Unknown edge') : json(200, detail(scene, found));
}

function common({ variations }: Scene, { edgeId, title, serial, disks }: DemoAppliance, build: unknown): Item {
  const required = { id: edgeId, description: title, serial, build };
  return variations.omitOptional
    ? required
    : { ...required, services: { s3_edge: false, file_iq: disks.has('file_iq') } };
}

/** The fields of newer versions of the service. */
function state({ world, variations, now }: Scene, appliance: DemoAppliance): Item {
  if (variations.omitOptional) return {};
  const lost = lostAt(world, appliance, now);
  const seenAt = lost ?? floorTo(now, MINUTE_MS);
  return { synced: lost === undefined, is_reachable: lost === undefined, last_seen_at: rfc3339(seenAt) };
}

/** As in the real service, `build` is an object here and a text in the list. */
function detail(scene: Scene, appliance: DemoAppliance): Item {
  const { world, variations } = scene;
  const volumes = world.volumesOf(appliance);
  const owned = volumes.filter((volume) => world.appliancesOf(volume)[0] === appliance).length;
  const counts = { owned, remotely_connected: volumes.length - owned };
  const { build, availableBuild, cores, memoryGib } = appliance;
  return {
    ...common(scene, appliance, { current: build, available: availableBuild ?? null, platform: 'vmware' }),
    owned_volumes: counts.owned,
    remotely_connected_volumes: counts.remotely_connected,
    volumes: counts,
    machine: {
      cpu: `${cores} cores`,
      ram: `${memoryGib} GB`,
      cache_disk: '2 TB',
      os_disk: '64 GB',
      fiq_disk: appliance.disks.has('file_iq') ? '256 GB' : '',
      cow_disk: appliance.disks.has('cow') ? '256 GB' : '',
      cpu_cores: cores,
      vm_instance_type: null,
      vm_region: null,
    },
    ...item(
      `${appliance.serial}/detail`,
      {},
      { ipaddress: '192.0.2.17', location: appliance.title.replace(/^edge-/, ''), last_config_backup_date: null },
      variations,
    ),
    ...state(scene, appliance),
  };
}
