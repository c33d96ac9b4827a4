import type { DemoResponse, Scene } from '../../exchange.ts';
import { json } from '../../exchange.ts';
import { draw, MINUTE_MS } from '../../world/waveforms.ts';
import type { Volume } from '../../world/world.ts';
import { type Item, item, worded } from '../item.ts';
import { type DemoOperation, get } from '../operation.ts';
import { text, texts, words } from '../query.ts';
import { cloudOf } from './cloud.ts';

/** The states of the filter; `Not Indexed` is not one of them. */
const STATUSES = [
  ...['Waiting for NDS creation', 'Waiting for NDS configuration', 'NDS Ready', 'Metadata Index in progress'],
  ...['Metadata Index Complete', 'Full Content Index in progress', 'Full Content Index Pending'],
  ...['Full Content Index Complete', 'Incremental Content Index in progress', 'Incremental Content Index failed'],
  ...['Volume Inventory Expired', 'Soft Deleted', 'Indexing Failed'],
];

/** The time between two incremental runs of an indexed volume, and the duration of a run. */
const INCREMENT = { everyMs: 20 * MINUTE_MS, takesMs: 6 * MINUTE_MS } as const;

/** Inventories and content indexes of the volumes. */
export const indexingOperations: readonly DemoOperation[] = [
  get('ai_activate_inventories', '/ai_activate/inventories', inventories, {
    volume_name: text,
    status: words(STATUSES),
    provider: texts,
    volume_region: texts,
    region: texts,
  }),
  get('ai_activate_indexes', '/ai_activate/indexes', (scene) =>
    json(200, { items: indexed(scene).flatMap((volume) => index(scene, volume) ?? []) }),
  ),
];

function inventories(scene: Scene): DemoResponse {
  const { query } = scene.request;
  const name = query.get('volume_name')?.toLowerCase() ?? '';
  const items = indexed(scene)
    .map((volume) => inventory(scene, volume))
    .filter((one) => String(one.volume_name).toLowerCase().includes(name))
    .filter((one) =>
      ['status', 'provider', 'volume_region', 'region'].every((field) => {
        const wanted = query.getAll(field);
        return wanted.length === 0 || wanted.includes(String(one[field]));
      }),
    );
  return json(200, { items });
}

/** Every volume with indexing switched on. */
function indexed({ world }: Scene): readonly Volume[] {
  return world.volumes.filter(({ mode }) => mode !== 'Disabled');
}

function inventory(scene: Scene, volume: Volume): Item {
  const { provider, region } = cloudOf(scene.world, volume);
  const status = worded(volume.guid, statusOf(scene, volume), 'Index Being Warmed', scene.variations);
  return item(
    `${volume.guid}/inventory`,
    { volume_guid: volume.guid, volume_name: volume.title, provider, status },
    { volume_region: region, region, file_count: files(volume), volume_size: '10.5 TB' },
    scene.variations,
  );
}

/** Undefined for a volume whose content is not indexed. */
function index(scene: Scene, volume: Volume): Item | undefined {
  const status = statusOf(scene, volume);
  if (!status.includes('Content')) return undefined;
  const word = status.endsWith('in progress') ? 'in_progress' : status.endsWith('failed') ? 'failed' : 'complete';
  const { provider, region } = cloudOf(scene.world, volume);
  return item(
    `${volume.guid}/index`,
    {
      volume_guid: volume.guid,
      volume_name: volume.title,
      provider,
      status: worded(`${volume.guid}/index`, word, 'paused', scene.variations),
    },
    { volume_region: region, file_count: files(volume), volume_size: '10.5 TB' },
    scene.variations,
  );
}

/** Increments of a slow volume fail; one in Observation has only its metadata indexed; others are up to date. */
function statusOf({ world, now }: Scene, volume: Volume): string {
  if (volume.mode === 'Observation') return 'Metadata Index Complete';
  const age = now - world.startedAt + draw(volume.guid, 'index') * INCREMENT.everyMs;
  if (age % INCREMENT.everyMs < INCREMENT.takesMs) return 'Incremental Content Index in progress';
  return volume.trait === 'slow' ? 'Incremental Content Index failed' : 'Full Content Index Complete';
}

function files(volume: Volume): number {
  return Math.round(1e5 + 9e5 * draw(volume.guid, 'files'));
}
