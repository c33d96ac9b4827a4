import { json, type Scene } from '../../exchange.ts';
import { floorTo, HOUR_MS, rfc3339, uuidOf } from '../../world/waveforms.ts';
import { type Item, item, worded } from '../item.ts';
import { type DemoOperation, get } from '../operation.ts';

/** The fixed properties of a stack. */
interface Stack {
  readonly name: string;
  readonly cloud: 'aws' | 'azure';
  readonly region: string;
  readonly build: string;
}

const cast: readonly Stack[] = [
  { name: 'stack-west', cloud: 'azure', region: 'westeurope', build: '3.4.1' },
  { name: 'stack-north', cloud: 'aws', region: 'eu-north-1', build: '3.3.0' },
];

/** The stacks. */
export const stackOperations: readonly DemoOperation[] = [
  get('stacks', '/uaas/stacks', (scene) => json(200, { items: cast.map((stack) => base(scene, stack)) })),
];

function base({ world, variations, now }: Scene, { name, cloud, region, build }: Stack): Item {
  return item(
    name,
    {
      id: uuidOf(world.seed, 'stack', name),
      serial_number: uuidOf(world.seed, 'stack serial', name),
      name,
      cloud_provider: worded(name, cloud, 'moonbase', variations),
      region,
      created_date: '2025-05-05T05:05:05Z',
    },
    {
      build,
      uaas_build: build,
      last_used_date: rfc3339(floorTo(now, HOUR_MS)),
      uaas_api_url: null,
      blob_endpoint_url: null,
      s3_obj_lambda_buckets: null,
    },
    variations,
  );
}
