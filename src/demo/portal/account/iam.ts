import { type DemoAnswer, json, portalError, type Scene } from '../../exchange.ts';
import { confidentialOf } from '../../world/confidential.ts';
import { floorTo, HOUR_MS, rfc3339, uuidOf } from '../../world/waveforms.ts';
import type { Item } from '../item.ts';
import { type DemoOperation, get } from '../operation.ts';

const ROLES = ['Account Owner', 'Super User', 'Read Only'] as const;
const PERMISSIONS = [
  ...['View Ops IQ Appliance Dashboard', 'View Ops IQ Volume Dashboard', 'View Volume Info', 'View Notifications'],
  ...['View Serial Numbers', 'View Cloud Credentials', 'View GFA Keys', 'View UaaS Stacks'],
];
const CREATED = '2025-01-01T00:00:00Z';

/** Users, roles, permissions and keys. */
export const iamOperations: readonly DemoOperation[] = [
  get('iam_users', '/iam/users', (scene) => json(200, { items: users(scene) })),
  get('iam_user', '/iam/users/{user_id}', (scene, { user_id = '' }) => one(users(scene), user_id)),
  get('iam_user_roles', '/iam/users/{user_id}/roles', (scene, { user_id = '' }) =>
    users(scene).some(({ id }) => id === user_id.toLowerCase())
      ? json(200, [roles(scene)[2]])
      : portalError(404, 'Unknown user'),
  ),
  get('iam_roles', '/iam/roles', (scene) => {
    return json(200, { items: roles(scene).map(({ permissions: _, ...rest }) => rest) });
  }),
  get('iam_role', '/iam/roles/{role_id}', (scene, { role_id = '' }) => one(roles(scene), role_id)),
  get('iam_role_permissions', '/iam/roles/{role_id}/permissions', (scene, { role_id = '' }) =>
    roles(scene).some(({ id }) => id === role_id.toLowerCase())
      ? json(200, { items: permissions(scene) })
      : portalError(404, 'Unknown role'),
  ),
  get('iam_permissions', '/iam/permissions', (scene) => json(200, { items: permissions(scene) })),
  get('iam_me', '/iam/me', (scene) =>
    json(200, { roles: [roles(scene)[2]], permissions: permissions(scene), is_sso_configured: true }),
  ),
  get('iam_service_keys', '/iam/service_keys', (scene) => json(200, { items: serviceKeys(scene) })),
  get('iam_service_key', '/iam/service_keys/{service_key_id}', (scene, { service_key_id = '' }) =>
    one(serviceKeys(scene), service_key_id),
  ),
  get('iam_user_keys', '/iam/user_keys', (scene) => json(200, { items: userKeys(scene) })),
  get('iam_user_key', '/iam/user_keys/{user_key_id}', (scene, { user_key_id = '' }) =>
    one(userKeys(scene), user_key_id),
  ),
];

function one(items: readonly Item[], wanted: string): DemoAnswer {
  const found = items.find(({ id }) => id === wanted.toLowerCase());
  return found === undefined ? portalError(404, 'Unknown identifier') : json(200, found);
}

function users({ world, now }: Scene): readonly Item[] {
  return confidentialOf(world.seed).usernames.map((username, place) => ({
    id: uuidOf(world.seed, 'user', place),
    username,
    account_owner: place === 0,
    created: CREATED,
    last_login: rfc3339(floorTo(now, HOUR_MS) - place * 24 * HOUR_MS),
  }));
}

function roles({ world }: Scene): readonly Item[] {
  return ROLES.map((name) => ({
    id: uuidOf(world.seed, 'role', name),
    created: CREATED,
    last_updated: CREATED,
    name,
    sso_group_names: [],
    editable: false,
    deletable: false,
    permissions: permissionIds(world.seed),
  }));
}

function permissions({ world }: Scene): readonly Item[] {
  const ids = permissionIds(world.seed);
  return PERMISSIONS.map((key, place) => ({ id: ids[place], key, description: `May ${key.toLowerCase()}` }));
}

function permissionIds(seed: number): readonly string[] {
  return PERMISSIONS.map((key) => uuidOf(seed, 'permission', key));
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
