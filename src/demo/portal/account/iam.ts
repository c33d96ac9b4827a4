import { json, type Scene } from '../../exchange.ts';
import { confidentialOf } from '../../world/confidential.ts';
import { floorTo, HOUR_MS, rfc3339, uuidOf } from '../../world/waveforms.ts';
import type { Item } from '../item.ts';
import { type DemoOperation, get } from '../operation.ts';

const CREATED = '2025-01-01T00:00:00Z';

/** Users and keys. */
export const iamOperations: readonly DemoOperation[] = [
  get('iam_users', '/iam/users', (scene) => json(200, { items: users(scene) })),
  get('iam_service_keys', '/iam/service_keys', (scene) => json(200, { items: serviceKeys(scene) })),
  get('iam_user_keys', '/iam/user_keys', (scene) => json(200, { items: userKeys(scene) })),
];

function users({ world, now }: Scene): readonly Item[] {
  return confidentialOf(world.seed).usernames.map((username, place) => ({
    id: uuidOf(world.seed, 'user', place),
    username,
    account_owner: place === 0,
    created: CREATED,
    last_login: rfc3339(floorTo(now, HOUR_MS) - place * 24 * HOUR_MS),
  }));
}

/** The exporter's own key, and an old unused one. */
function serviceKeys({ world, now }: Scene): readonly Item[] {
  const [own, old] = confidentialOf(world.seed).serviceKeys;
  const key = (place: number, rest: Item): Item => ({
    id: uuidOf(world.seed, 'service key', place),
    roles: [],
    ...rest,
  });
  const lastAccessed = rfc3339(floorTo(now, HOUR_MS / 60));
  return [
    key(1, { name: 'exporter', key: own, date_created: '2026-01-10T12:00:00Z', last_accessed: lastAccessed }),
    key(2, {
      name: 'forgotten',
      key: old,
      date_created: '2023-06-01T12:00:00Z',
      last_accessed: '2023-07-01T00:00:00Z',
    }),
  ];
}

function userKeys({ world, now }: Scene): readonly Item[] {
  const { usernames, userKeys: keys } = confidentialOf(world.seed);
  return keys.map((key, place) => ({
    id: uuidOf(world.seed, 'user key', place),
    username: usernames[place],
    key,
    user: uuidOf(world.seed, 'user', place),
    date_created: place === 0 ? '2026-02-01T08:00:00Z' : CREATED,
    expiration: rfc3339(world.startedAt + (place + 1) * 30 * 24 * HOUR_MS),
    last_accessed: rfc3339(floorTo(now, HOUR_MS)),
  }));
}
