import { json, portalError, type Scene } from '../../exchange.ts';
import type { DemoAppliance, SimulatedFleet } from '../../world/world.ts';
import type { Item } from '../item.ts';
import { type DemoOperation, get } from '../operation.ts';

/** The file-intelligence appliances: list and one. */
export const fiqOperations: readonly DemoOperation[] = [
  get('fiq_appliances', '/fiq_appliances', (scene) => {
    return json(200, { items: fiqAppliances(scene.world).map((appliance) => told(scene, appliance)) });
  }),
  get('fiq_appliance', '/fiq_appliances/{file_iq_serial}', (scene, { file_iq_serial = '' }) => {
    const found = fiqAppliances(scene.world).find(({ serial }) => serial === file_iq_serial.toLowerCase());
    return found === undefined
      ? portalError(404, 'Unknown file-intelligence appliance')
      : json(200, told(scene, found));
  }),
];

/** The file-intelligence appliance of the edges, if there is one. */
export function fiqSerialOf(world: SimulatedFleet): string | undefined {
  return fiqAppliances(world)[0]?.serial;
}

function fiqAppliances(world: SimulatedFleet): readonly DemoAppliance[] {
  return world.appliances.filter(({ kind }) => kind === 'file_iq');
}

function told({ world }: Scene, appliance: DemoAppliance): Item {
  const isFirst = fiqSerialOf(world) === appliance.serial;
  const connected = isFirst
    ? world.appliances.filter(({ kind, disks }) => kind === 'edge' && disks.has('file_iq'))
    : [];
  return {
    serial_number: appliance.serial,
    id: appliance.edgeId,
    description: appliance.title,
    build: appliance.build,
    enabled: true,
    connections: {
      edges: connected.map(({ serial, edgeId, build, title }) => ({
        serial_number: serial,
        id: edgeId,
        build,
        description: title,
        fiq_service_enabled: true,
      })),
    },
  };
}
