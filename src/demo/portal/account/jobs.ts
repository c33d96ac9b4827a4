import { json, type Scene } from '../../exchange.ts';
import { draw, floorTo, HOUR_MS, MINUTE_MS, rfc3339, uuidOf } from '../../world/waveforms.ts';
import { type Item, item, worded } from '../item.ts';
import { type DemoOperation, get } from '../operation.ts';
import { text, word } from '../query.ts';

/** Most slots start a job; the list has the jobs of one day. */
const SLOT_MS = 4 * MINUTE_MS;
const LISTED_MS = 24 * HOUR_MS;

const kinds = [
  { resource: 'cloud_credential', action: 'update_cloud_credential', by: 'portal' },
  { resource: 'cloud_credential', action: 'create_cloud_credential', by: 'portal' },
  { resource: 'volume', action: 'rename_volume', by: 'portal' },
  { resource: 'edge', action: 'update_fiq_service', by: 'portal' },
  { resource: 'edge', action: 'refresh_license', by: 'edge' },
] as const;

/** The jobs. */
export const jobOperations: readonly DemoOperation[] = [
  get(
    'jobs',
    '/jobs',
    (scene) => {
      const [resource, action] = [scene.request.query.get('resource'), scene.request.query.get('action')];
      const items = jobs(scene).filter(
        (job) => (resource === null || job.resource === resource) && (action === null || job.action === action),
      );
      return json(200, { items });
    },
    { resource: word(['edge', 'volume', 'cloud_credential']), action: text },
  ),
];

/** Newest first. */
function jobs(scene: Scene): readonly Item[] {
  const found: Item[] = [];
  for (let at = floorTo(scene.now, SLOT_MS); at > scene.now - LISTED_MS; at -= SLOT_MS) {
    if (draw(scene.world.seed, at, 'job') < 0.7) found.push(job(scene, at));
  }
  return found;
}

/** Runs for some minutes, sometimes for hours, and then ends; one in six fails. */
function job({ world, variations, now }: Scene, createdAt: number): Item {
  const { seed } = world;
  const chance = (what: string) => draw(seed, createdAt, 'job', what);
  const kind = kinds[Math.floor(chance('kind') * kinds.length)] ?? kinds[0];
  const runsMs = chance('stuck') < 0.04 && !world.isCalm ? 5 * HOUR_MS : MINUTE_MS * (2 + 20 * chance('length'));
  const endedAt = createdAt + Math.round(runsMs);
  const state = now < endedAt ? 'in_progress' : chance('fate') < 1 / 6 && !world.isCalm ? 'failed' : 'completed';
  const isSeen = state === 'failed' && kind.resource === 'cloud_credential' && now > endedAt + HOUR_MS;
  const executor = world.appliances[Math.floor(chance('executor') * world.appliances.length)];
  const id = uuidOf(seed, 'job', createdAt);
  return item(
    id,
    {
      id,
      created_at: rfc3339(createdAt),
      resource: kind.resource,
      action: kind.action,
      executor: 'edge',
      initiated_by: kind.by,
      state: worded(id, state, 'postponed', variations),
      last_updated_at: rfc3339(Math.min(endedAt, floorTo(now, MINUTE_MS / 2))),
    },
    {
      resource_id: uuidOf(seed, 'job resource', createdAt),
      executor_id: executor?.edgeId ?? null,
      initiator_id: null,
      activity_log_id: null,
      reason: null,
      deletion_time: null,
      user_acknowledged_at: isSeen ? rfc3339(endedAt + HOUR_MS) : null,
    },
    variations,
  );
}
