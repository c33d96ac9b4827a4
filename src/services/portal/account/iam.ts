import type { Family } from '../../../metrics/family.ts';
import { date, futureDate, recordOne } from '../../../metrics/units.ts';
import type { CollectorDefinition } from '../collector-definition.ts';

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
  help: 'Time when the first key expires, by kind; missing if no key expires.',
  from: futureDate,
  fields: { expiration: {} },
  optional: true,
} as const satisfies Family;

/** Counts users and keys. No name, owner or key becomes a label. Only user keys have a documented expiry. */
export const iam: CollectorDefinition = {
  name: 'iam',
  intervalMs: 3_600_000,
  reads: [
    { path: '/iam/users', rows: { counts: [users] } },
    { path: '/iam/service_keys', rows: { labels: { kind: 'service' }, counts: [keys], least: [oldestKey] } },
    { path: '/iam/user_keys', rows: { labels: { kind: 'user' }, counts: [keys], least: [oldestKey, nextExpiry] } },
  ],
};
