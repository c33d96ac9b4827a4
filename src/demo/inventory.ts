import type { Answer, Complaint, Scene } from './exchange.ts';
import { invalid, json, portalError } from './exchange.ts';
import { draw, floorTo, HOUR_MS, MINUTE_MS, rfc3339, smoothNoise, uuidOf } from './signals.ts';
import type { Appliance, Volume, World } from './world.ts';

const SERIAL_TYPES: ReadonlySet<string> = new Set(['edge', 'nmc', 'file_iq', 'naa', 'uaas']);

/** `GET /health`. */
export function health(): Answer {
  return json(200, { healthy: true });
}

/** `GET /serials`: the appliances, and two that have no telemetry: a console, and an edge not in use. */
export function serials(scene: Scene): Answer {
  const { ask, world, variations } = scene;
  const complaint = typeComplaint(ask.query.getAll('type')) ?? booleanComplaint(ask.query, 'in_use');
  if (complaint !== undefined) return invalid(complaint);
  const [type, inUse] = [ask.query.get('type'), ask.query.get('in_use')];
  const description = ask.query.get('description');
  const items = [...world.appliances.map(applianceSerial), ...otherSerials(world)]
    .filter((serial) => type === null || serial.type === type)
    .filter((serial) => inUse === null || String(serial.in_use) === inUse)
    .filter((serial) => description === null || serial.description === description);
  // `in_use` stays: its absence would mean false.
  return json(200, {
    items: variations.omitOptional ? items.map(({ id, type: kind, in_use }) => ({ id, type: kind, in_use })) : items,
  });
}

/** `GET /edges`: the edge appliances only. */
export function edges({ ask, world, variations, now }: Scene): Answer {
  if (variations.edgesForbidden) return portalError(403, 'Insufficient permissions');
  const complaint = booleanComplaint(ask.query, 's3_edge_enabled') ?? booleanComplaint(ask.query, 'file_iq_enabled');
  if (complaint !== undefined) return invalid(complaint);
  const [s3Edge, fileIq] = [ask.query.get('s3_edge_enabled'), ask.query.get('file_iq_enabled')];
  const items = world.appliances
    .filter((appliance) => appliance.kind === 'edge' && s3Edge !== 'true') // nobody has that service
    .filter((appliance) => fileIq === null || String(appliance.disks.has('file_iq')) === fileIq)
    .map((appliance) => ({
      id: appliance.edgeId,
      description: appliance.title,
      serial: appliance.serial,
      build: appliance.build,
      ...(variations.omitOptional ? {} : { services: { s3_edge: false, file_iq: appliance.disks.has('file_iq') } }),
      ...(variations.omitOptional || !variations.newerEdgeFields ? {} : reachability(world, appliance, now)),
    }));
  return json(200, { items });
}

/** `GET /volume_connections`: a row for each volume and each appliance connected to it. */
export function volumeConnections({ ask, world, variations, now }: Scene): Answer {
  const wanted = ask.query.get('volume_id');
  const items = world.volumes
    .filter((volume) => wanted === null || volume.portalId === wanted)
    .flatMap((volume) =>
      world.appliancesOf(volume).map((appliance, place) => ({
        volume_id: volume.portalId,
        volume_name: volume.title,
        appliance_id: variations.connectionIds === 'edge' ? appliance.edgeId : appliance.serial,
        appliance_name: appliance.title,
        role: place === 0 ? 'owner' : 'connected',
        ...(variations.omitOptional ? {} : connectionState(appliance, volume, variations.nulls, now)),
      })),
    );
  return json(200, { items });
}

/** `GET /account/license`. */
export function license({ variations }: Scene): Answer {
  return json(200, {
    subscription_status: 'active',
    ...(variations.omitOptional ? {} : { subscription_expiration: '2030-01-01T00:00:00Z' }),
    ...{ analytics_connector_enabled: false, uaas_enabled: false, nds_enabled: false, prune_enabled: true },
    ...{ gfa_enabled: true, file_iq_enabled: true, s3_enabled: false, naa_enabled: false, awada_enabled: false },
    ops_iq_premium: variations.opsIqPremium,
    ...(variations.omitOptional ? {} : { file_iq_premium: false, max_now_storage: 0, max_cloud_storage: 0 }),
  });
}

function applianceSerial(appliance: Appliance) {
  return {
    ...{ id: appliance.serial, type: appliance.kind as string, in_use: true, description: appliance.title },
    ...{ build: appliance.build, available_build: appliance.availableBuild ?? null },
    ...{ users: null, fqdns: null, last_config_backup_date: null },
  };
}

function otherSerials(world: World) {
  const rest = { available_build: null, users: null, fqdns: null, last_config_backup_date: null };
  return [
    { id: uuidOf(world.seed, 'nmc'), type: 'nmc', in_use: true, description: 'nmc-hq', build: '24.2.1', ...rest },
    { id: uuidOf(world.seed, 'unused'), type: 'edge', in_use: false, description: 'edge-spare', build: null, ...rest },
  ];
}

/** The appliance that is silent towards the accelerator is out of the portal's reach too. */
function reachability(world: World, appliance: Appliance, now: number) {
  const silent = appliance.trait === 'silent';
  const lastSeenAt = silent ? world.startedAt - 45_000 : floorTo(now, MINUTE_MS);
  return { synced: !silent, is_reachable: !silent, last_seen_at: rfc3339(lastSeenAt) };
}

function connectionState(appliance: Appliance, volume: Volume, nulls: number, now: number) {
  const name = `${appliance.serial}/${volume.guid}`;
  const level = smoothNoise(`${name}/unprotected bytes`, now, HOUR_MS) * (volume.trait === 'slow' ? 2e12 : 4e10);
  const unknown = draw(name, 'unreported', Math.floor(now / HOUR_MS)) < nulls;
  const snapshotAt = floorTo(now - 5 * MINUTE_MS - draw(name, 'snapshot') * HOUR_MS, HOUR_MS / 4);
  return {
    accessible_data: Math.round(1e12 + 2e13 * draw(volume.guid, 'size')),
    unprotected_data: unknown ? null : Math.round(level),
    last_snapshot_utc: unknown ? null : rfc3339(snapshotAt),
    current_snapshot_status: draw(name, 'status', Math.floor(now / HOUR_MS)) < 0.2 ? 'in_progress' : 'idle',
    cloud_provider: 'amazons3',
    protocol: ['SMB'],
    security_mode: 'Active Directory',
    is_readonly: false,
  };
}

function typeComplaint(types: readonly string[]): Complaint | undefined {
  const [type] = types;
  if (types.length <= 1 && (type === undefined || SERIAL_TYPES.has(type))) return undefined;
  return { type: 'enum', loc: ['query', 'type'], msg: 'One of edge, nmc, file_iq, naa, uaas', input: types };
}

function booleanComplaint(query: URLSearchParams, name: string): Complaint | undefined {
  const value = query.get(name);
  if (value === null || value === 'true' || value === 'false') return undefined;
  return { type: 'bool_parsing', loc: ['query', name], msg: 'A boolean is expected', input: value };
}
