import type { DemoResponse, Scene } from '../../exchange.ts';
import { json } from '../../exchange.ts';
import { draw, floorTo, HOUR_MS, rfc3339, uuidOf } from '../../world/waveforms.ts';
import type { DemoAppliance, SimulatedFleet } from '../../world/world.ts';
import type { Item } from '../item.ts';
import { type DemoOperation, get } from '../operation.ts';
import { text, truth, word } from '../query.ts';

/** The serials. */
export const serialOperations: readonly DemoOperation[] = [
  get('serials', '/serials', serials, {
    type: word(['edge', 'nmc', 'file_iq', 'naa', 'uaas']),
    description: text,
    in_use: truth,
  }),
];

/** The appliances, and two that have no telemetry: a console, and an edge not in use. */
function serials(scene: Scene): DemoResponse {
  const { query } = scene.request;
  const [type, inUse, description] = [query.get('type'), query.get('in_use'), query.get('description')];
  const items = all(scene)
    .filter((serial) => type === null || serial.type === type)
    .filter((serial) => inUse === null || String(serial.in_use) === inUse)
    .filter((serial) => description === null || serial.description === description);
  return json(200, { items: items.map((serial) => lean(scene, serial)) });
}

/** Without optional fields; `in_use` stays, because its absence means false. */
function lean({ variations }: Scene, serial: Item): Item {
  const { id, type, in_use } = serial;
  return variations.omitOptional ? { id, type, in_use } : serial;
}

function all({ world, now }: Scene): readonly Item[] {
  return [...world.appliances.map((appliance) => applianceSerial(appliance, now)), ...others(world)];
}

function applianceSerial(appliance: DemoAppliance, now: number): Item {
  const phase = draw(appliance.serial, 'config backup') * HOUR_MS;
  return {
    id: appliance.serial,
    type: appliance.kind,
    in_use: true,
    description: appliance.title,
    build: appliance.build,
    available_build: appliance.availableBuild ?? null,
    users: null,
    fqdns: null,
    last_config_backup_date: rfc3339(floorTo(now - phase, 24 * HOUR_MS) + phase),
  };
}

function others({ seed }: SimulatedFleet): readonly Item[] {
  const rest = { available_build: null, users: null, fqdns: null, last_config_backup_date: null };
  return [
    { id: uuidOf(seed, 'nmc'), type: 'nmc', in_use: true, description: 'nmc-hq', build: '24.2.1', ...rest },
    { id: uuidOf(seed, 'unused'), type: 'edge', in_use: false, description: 'edge-spare', build: null, ...rest },
  ];
}
