import { type DemoAnswer, json, portalError, type Scene } from '../../exchange.ts';
import { confidentialOf } from '../../world/confidential.ts';
import { floorTo, HOUR_MS, rfc3339, uuidOf } from '../../world/waveforms.ts';
import { type Item, item, worded } from '../item.ts';
import { type DemoOperation, get } from '../operation.ts';
import { volumeOf } from '../volumes/volumes.ts';

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

/** The stacks with their sub-resources, and the analytics connector. */
export const stackOperations: readonly DemoOperation[] = [
  get('stacks', '/uaas/stacks', (scene) => json(200, { items: cast.map((stack) => base(scene, stack)) })),
  get('stack', '/uaas/stacks/{stack_id}', (scene, { stack_id = '' }) =>
    about(scene, stack_id, (stack) => ({
      ...base(scene, stack),
      log_level: 'INFO',
      log_retention: 30,
      remote_support_enabled: false,
      volume_refresh_interval: 300,
    })),
  ),
  get('stack_nds', '/uaas/stacks/{stack_id}/nds', (scene, { stack_id = '' }) =>
    about(scene, stack_id, ({ cloud }) => ({
      azure_enabled: cloud === 'azure',
      s3: { aws_enabled: cloud === 'aws', aws_volumes: [] },
      azure_keys: blobKeys(scene),
      excluded_paths: {},
      included_paths: {},
      azure_volumes: connected(scene),
    })),
  ),
  get('stack_volumes', '/uaas/stacks/{stack_id}/volumes', (scene, { stack_id = '' }) =>
    about(scene, stack_id, () => ({ volumes: connected(scene) })),
  ),
  get('stack_volume', '/uaas/stacks/{stack_id}/volumes/{volume_id}', (scene, { stack_id = '', volume_id = '' }) =>
    volumeOf(scene.world, volume_id) === undefined
      ? portalError(404, 'Unknown volume')
      : about(scene, stack_id, () => ({ nds: true, nds_excluded_paths: null, nds_included_paths: '/' })),
  ),
  get('stack_sraas', '/uaas/stacks/{stack_id}/sraas', (scene, { stack_id = '' }) =>
    about(scene, stack_id, () => ({ enabled: true, runs: runs(scene) })),
  ),
  get('stack_blob_keys', '/uaas/stacks/{stack_id}/nds/blob-keys', (scene, { stack_id = '' }) =>
    about(scene, stack_id, () => ({ items: blobKeys(scene) })),
  ),
  get(
    'stack_blob_key',
    '/uaas/stacks/{stack_id}/nds/blob-keys/{blob_key_id}',
    (scene, { stack_id = '', blob_key_id = '' }) => {
      const found = blobKeys(scene).find(({ id }) => id === blob_key_id.toLowerCase());
      return found === undefined ? portalError(404, 'Unknown key') : about(scene, stack_id, () => found);
    },
  ),
  get('analytics_connector', '/uaas/analytics_connector', ({ world }) =>
    json(200, {
      key: confidentialOf(world.seed).analyticsKey,
      nac_link: 'https://connector.example',
      launchable: true,
      unlicensed: false,
      nac_run_history: null,
      can_generate: false,
      can_view: true,
      unifx_aws_ids: '',
    }),
  ),
];

function about(scene: Scene, id: string, tell: (stack: Stack) => Item): DemoAnswer {
  const stack = cast.find(({ name }) => uuidOf(scene.world.seed, 'stack', name) === id.toLowerCase());
  return stack === undefined ? portalError(404, 'Unknown stack') : json(200, tell(stack));
}

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

/** The ids of the volumes that every stack serves. */
function connected({ world }: Scene): readonly string[] {
  return world.volumes.filter(({ mode }) => mode === 'Active').map(({ portalId }) => portalId);
}

function blobKeys({ world }: Scene): readonly Item[] {
  return confidentialOf(world.seed).blobKeys.map((key, place) => ({
    id: uuidOf(world.seed, 'blob key', place),
    access_key: key,
    generated: '2026-01-01T00:00:00Z',
    connection_string: `AccountName=example;AccountKey=${key}`,
  }));
}

/** One clean-up an hour for the first volumes. */
function runs({ world, now }: Scene): readonly Item[] {
  const end = floorTo(now, HOUR_MS);
  return world.volumes.slice(0, 2).map(({ portalId, title }) => ({
    volume_id: portalId,
    volume_name: title,
    start_time: rfc3339(end - HOUR_MS / 4),
    end_time: rfc3339(end),
    error_count: 0,
    objects_deleted: 1200,
    bytes_deleted: 3_400_000_000,
  }));
}
