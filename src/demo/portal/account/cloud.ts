import type { SimulatedFleet, Volume } from '../../world/world.ts';

/** The cloud storage of a volume. */
export interface Cloud {
  readonly provider: 'amazons3' | 'azure';
  readonly region: string;
  readonly credential: 'primary-objects' | 'secondary-blobs';
}

/** Alternates between the clouds, so that both are in use. */
export function cloudOf(world: SimulatedFleet, volume: Volume): Cloud {
  const place = world.volumes.findIndex(({ guid }) => guid === volume.guid);
  return place % 3 === 2
    ? { provider: 'azure', region: 'westeurope', credential: 'secondary-blobs' }
    : { provider: 'amazons3', region: 'eu-west-1', credential: 'primary-objects' };
}

/** Every shortname of a cloud provider that is documented. */
export const CLOUD_PROVIDERS: readonly string[] = [
  ...['amazons3', 'amazons3gov', 'azure', 'google', 'googles3', 'atmos', 'ironmountain', 'rackspace', 'nirvanix'],
  ...['synaptic', 'castor', 'delldx', 'cloudone', 'hp', 'cleversafe', 'vipr', 'ibmcos', 'hcp', 's3_compatible'],
];
