import { json, type Scene } from '../../exchange.ts';
import type { DemoAppliance, SimulatedFleet } from '../../world/world.ts';
import type { Item } from '../item.ts';
import { type DemoOperation, get } from '../operation.ts';

/** The file-intelligence appliances. The first one serves the edges. */
export const fiqOperations: readonly DemoOperation[] = [
  get('fiq_appliances', '/fiq_appliances', (scene) => {
    return json(200, { items: fiqAppliances(scene.world).map((appliance) => toItem(scene, appliance)) });
  }),
];

function fiqAppliances(world: SimulatedFleet): readonly DemoAppliance[] {
  return world.appliances.filter(({ kind }) => kind === 'file_iq');
}

function toItem({ world }: Scene, appliance: DemoAppliance): Item {
  const isFirst = fiqAppliances(world)[0] === appliance;
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
