import type { Trait } from './roles.ts';
import type { DemoAppliance, SimulatedFleet } from './world.ts';
import { hasMemoryDetails } from './world.ts';

/** An appliance as tests see it. */
export interface FleetAppliance {
  /** Its serial in the portal and its `filer_guid` in `GET /data`. */
  readonly serial: string;
  readonly edgeId: string;
  readonly title: string;
  readonly kind: 'edge' | 'file_iq';
  readonly build: string;
  /** The memory series that fits the build. */
  readonly memorySeries: 'memory_utilization' | 'memory_utilization_details';
  readonly disks: readonly ('cache' | 'cow' | 'file_iq' | 'os')[];
  /** The guids of the volumes that it is connected to. */
  readonly volumes: readonly string[];
  /** What it is here to show. */
  readonly trait: Trait;
}

/** A volume as tests see it. */
export interface FleetVolume {
  readonly guid: string;
  /** Its id in the portal: the guid, for some with a numeric suffix. */
  readonly portalId: string;
  readonly title: string;
  readonly mode: string;
  readonly profile: string;
  /** What it is here to show. */
  readonly trait: Trait;
}

/** The appliances and volumes. */
export interface FleetView {
  readonly appliances: readonly FleetAppliance[];
  readonly volumes: readonly FleetVolume[];
}

/** The world as tests see it. */
export function fleetView(world: SimulatedFleet): FleetView {
  return {
    appliances: world.appliances.map((appliance) => fleetAppliance(world, appliance)),
    volumes: world.volumes.map(({ guid, portalId, title, mode, profile, trait }) => ({
      guid,
      portalId,
      title,
      mode,
      profile,
      trait,
    })),
  };
}

/** One appliance as tests see it. */
export function fleetAppliance(world: SimulatedFleet, appliance: DemoAppliance): FleetAppliance {
  const { serial, edgeId, title, kind, build, trait } = appliance;
  return {
    serial,
    edgeId,
    title,
    kind,
    build,
    trait,
    memorySeries: hasMemoryDetails(appliance) ? 'memory_utilization_details' : 'memory_utilization',
    disks: [...appliance.disks],
    volumes: world.volumesOf(appliance).map((volume) => volume.guid),
  };
}
