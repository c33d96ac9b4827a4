import type { Family } from '../../../metrics/family.ts';
import { booleanValue, date, futureDate, isNull, parseDateSeconds, recordOne } from '../../../metrics/units.ts';
import type { CollectorDefinition } from '../context.ts';

/** Keys and credentials. They are secrets, so no key, name, host or owner becomes a label. */

const users = {
  name: 'filer_iam_users',
  help: 'Users of the portal account.',
  from: recordOne,
  fields: { items: {} },
} as const satisfies Family;

const keys = {
  name: 'filer_iam_keys',
  help: 'Keys of the portal account, by kind: service or user.',
  from: recordOne,
  fields: { items: {} },
} as const satisfies Family;

const oldestKey = {
  name: 'filer_iam_oldest_key_created_timestamp_seconds',
  help: 'Creation time of the oldest key, by kind.',
  from: date,
  fields: { date_created: {} },
} as const satisfies Family;

const nextExpiry = {
  name: 'filer_iam_next_key_expiry_timestamp_seconds',
  help: 'Time when the first key expires that has not expired yet, by kind; missing if no key expires.',
  from: futureDate,
  fields: { expiration: {} },
} as const satisfies Family;

export const iam: CollectorDefinition = {
  name: 'iam',
  intervalMs: 3_600_000,
  reads: [
    { path: '/iam/users', sum: [users] },
    { path: '/iam/service_keys', labels: { kind: 'service' }, sum: [keys], min: [oldestKey] },
    {
      path: '/iam/user_keys',
      labels: { kind: 'user' },
      sum: [keys],
      min: [oldestKey, nextExpiry],
      prepare(key, { client }) {
        const hasExpired =
          (parseDateSeconds(key.expiration) ?? Number.POSITIVE_INFINITY) <= client.serviceClock.now() / 1000;
        return hasExpired ? { ...key, expiration: null } : key;
      },
    },
  ],
};

const gfaKeyFamilies = {
  count: {
    name: 'filer_gfa_api_keys',
    help: 'File acceleration keys of the account.',
    from: recordOne,
    fields: { items: {} },
  },
  unused: {
    name: 'filer_gfa_api_keys_unused',
    help: 'File acceleration keys that have never been used.',
    from: isNull,
    fields: { last_used: {} },
  },
  oldest: {
    name: 'filer_gfa_api_key_oldest_created_timestamp_seconds',
    help: 'Creation time of the oldest file acceleration key.',
    from: date,
    fields: { created: {} },
  },
  lastUsed: {
    name: 'filer_gfa_api_key_last_used_timestamp_seconds',
    help: 'Time of the last use of any file acceleration key.',
    from: date,
    fields: { last_used: {} },
  },
} as const satisfies Record<string, Family>;

export const gfaKeys: CollectorDefinition = {
  name: 'gfa_keys',
  intervalMs: 3_600_000,
  reads: [
    {
      path: '/gfa/api_keys',
      sum: [gfaKeyFamilies.count, gfaKeyFamilies.unused],
      min: [gfaKeyFamilies.oldest],
      max: [gfaKeyFamilies.lastUsed],
    },
  ],
};

const credentialsByStatus = {
  name: 'filer_cloud_credentials',
  help: 'Cloud credentials on appliances, by status, by cloud type, and by whether a volume uses them.',
  from: recordOne,
  fields: { id: {} },
  enumLabels: {
    status: { field: 'status', documentedValues: ['synced', 'pending', 'failed', 'creating'], zeros: true },
    type: { field: 'cred_type' },
    in_use: { field: 'volumes', documentedValues: ['true', 'false'], zeros: true },
  },
} as const satisfies Family;

const credentialsWithError = {
  name: 'filer_cloud_credentials_with_error',
  help: 'Cloud credentials on appliances with an error, by cloud type.',
  from: booleanValue,
  fields: { error: {} },
  enumLabels: { type: { field: 'cred_type' } },
} as const satisfies Family;

export const credentials: CollectorDefinition = {
  name: 'credentials',
  intervalMs: 900_000,
  reads: [
    {
      path: '/cloud-credentials',
      paged: {},
      // The list has one record for each credential on each appliance.
      key: ['id', 'appliance_id'],
      prepare: ({ volumes, error, ...credential }) => ({
        ...credential,
        volumes: Array.isArray(volumes) && volumes.length > 0,
        error: error !== null && error !== undefined,
      }),
      sum: [credentialsByStatus, credentialsWithError],
    },
  ],
};
