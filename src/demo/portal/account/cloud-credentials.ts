import { type DemoResponse, json, portalError, type Scene } from '../../exchange.ts';
import { confidentialOf } from '../../world/confidential.ts';
import { draw, HOUR_MS, MINUTE_MS, rfc3339, uuidOf } from '../../world/waveforms.ts';
import type { DemoAppliance } from '../../world/world.ts';
import { type Item, item, worded } from '../item.ts';
import { type DemoOperation, get } from '../operation.ts';
import { integer, text, texts, uuid, word, words } from '../query.ts';
import { CLOUD_PROVIDERS, cloudOf } from './cloud.ts';

const SORTS = ['name', 'shortname', 'hostname', 'access_key', 'note', 'created_at', 'updated_at', 'appliance_name'];
const DEFAULT_LIMIT = 50;

/** Two credentials that the volumes use, and an unused one. */
const kinds = [
  { name: 'primary-objects', shortname: 'amazons3', hostname: 'objects.example', region: 'eu-west-1' },
  { name: 'secondary-blobs', shortname: 'azure', hostname: 'blobs.example', region: null },
  { name: 'former-objects', shortname: 's3_compatible', hostname: 'old-objects.example', region: null },
] as const;

/** The credentials of the appliances with their clouds. */
export const cloudCredentialOperations: readonly DemoOperation[] = [
  get('cloud_credentials', '/cloud-credentials', listed, {
    search: text,
    providers: words(CLOUD_PROVIDERS),
    appliance_serials: { kind: 'uuid', many: true },
    volume_ids: texts,
    sort_by: word(SORTS),
    sort_direction: word(['ascending', 'descending']),
    iterator_id: uuid,
    limit: integer(1),
    page: integer(1),
  }),
];

function listed(scene: Scene): DemoResponse {
  const page = scene.cursors.page(scene.request.path, scene.request.query, () => matching(scene), DEFAULT_LIMIT);
  return typeof page === 'string' ? portalError(400, page) : json(200, page);
}

function matching(scene: Scene): readonly Item[] {
  const { query } = scene.request;
  const search = query.get('search')?.toLowerCase() ?? '';
  const [providers, serials, volumes] = ['providers', 'appliance_serials', 'volume_ids'].map((name) =>
    query.getAll(name),
  );
  const by = query.get('sort_by') ?? 'name';
  const turn = query.get('sort_direction') === 'descending' ? -1 : 1;
  const isRequested = (wanted: readonly string[] = [], value: unknown) =>
    wanted.length === 0 || wanted.includes(String(value));
  return credentials(scene)
    .filter((one) => String(one.name).toLowerCase().includes(search))
    .filter((one) => isRequested(providers, one.shortname) && isRequested(serials, one.appliance_serial))
    .filter((one) => volumesIn(one).some((id) => isRequested(volumes, id)) || (volumes ?? []).length === 0)
    .toSorted((one, other) => turn * String(one[by] ?? '').localeCompare(String(other[by] ?? '')));
}

function credentials(scene: Scene): readonly Item[] {
  const edges = scene.world.appliances.filter(({ kind }) => kind === 'edge');
  return kinds.flatMap((_, place) => edges.map((appliance) => credential(scene, place, appliance)));
}

function credential({ world, variations, now }: Scene, place: number, appliance: DemoAppliance): Item {
  const { name, shortname, hostname, region } = kinds[place] ?? kinds[0];
  const own = `${appliance.serial}/${name}`;
  const { status, changedAt } = stateOf(own, now, world.isCalm);
  const volumes = world.volumesOf(appliance).filter((volume) => cloudOf(world, volume).credential === name);
  return item(
    own,
    {
      id: uuidOf(world.seed, 'credential', own),
      appliance_id: appliance.edgeId,
      name,
      shortname,
      hostname,
      appliance_serial: appliance.serial,
      appliance_name: appliance.title,
      cred_type: shortname,
      appliance_credential_uuid: uuidOf(world.seed, 'appliance credential', own),
      access_key: confidentialOf(world.seed).accessKeys[place],
      vendor: 'customer',
      status: worded(own, status, 'quarantined', variations),
      created_at: '2025-03-01T10:00:00Z',
      updated_at: rfc3339(changedAt),
    },
    {
      note: null,
      certificate: null,
      region_code: region,
      verify_certificates: true,
      is_stub: status === 'creating',
      volumes: volumes.map(({ portalId, title }) => ({ volume_id: portalId, name: title })),
      error: status === 'failed' ? failure(world.seed, own, changedAt) : null,
    },
    variations,
  );
}

/** Most credentials are deployed; sometimes one is sent again, and a few never arrive. */
function stateOf(own: string, now: number, isCalm: boolean): { readonly status: string; readonly changedAt: number } {
  const everyMs = (3 + 5 * draw(own, 'round')) * HOUR_MS;
  const changedAt = Math.floor(now / everyMs) * everyMs;
  if (!isCalm && draw(own, 'broken') < 0.05) return { status: 'failed', changedAt };
  if (now - changedAt < 4 * MINUTE_MS) return { status: draw(own, 'new') < 0.1 ? 'creating' : 'pending', changedAt };
  return { status: 'synced', changedAt };
}

function failure(seed: number, own: string, at: number): Item {
  const task_id = uuidOf(seed, 'credential task', own);
  return { task_id, code: 408, error: 'timeout', message: 'The appliance did not respond', detected_at: rfc3339(at) };
}

function volumesIn(one: Item): readonly string[] {
  const list: readonly { readonly volume_id: string }[] = Array.isArray(one.volumes) ? one.volumes : [];
  return list.map(({ volume_id }) => volume_id);
}
