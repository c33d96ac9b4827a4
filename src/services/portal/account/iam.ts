import type { Family } from '../../../metrics/family.ts';
import { date, futureDate, listLength } from '../../../metrics/units.ts';
import type { AccountRead, CollectorDefinition } from '../collector-definition.ts';
import { extremeSample } from '../extreme-sample.ts';
import { collectAll } from '../records.ts';

const users = {
  name: 'filer_iam_users',
  help: 'Users of the portal account.',
  from: listLength,
  fields: { items: {} },
} as const satisfies Family;

const keys = {
  name: 'filer_iam_keys',
  help: 'Keys of the portal account, by kind: service or user.',
  from: listLength,
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

/** Counts users and keys. No name, owner or key becomes a label. */
export const iam: CollectorDefinition = {
  name: 'iam',
  intervalMs: 3_600_000,
  tables: [
    { source: 'GET /iam/users', commonLabels: [], families: [users] },
    { source: 'GET /iam/service_keys', commonLabels: ['kind'], families: [keys, oldestKey] },
    { source: 'GET /iam/user_keys', commonLabels: ['kind'], families: [keys, oldestKey, nextExpiry] },
  ],
  requestsPerCycle: { account: 3 },
  sampleCounts: { account: 6 },
  reads: () => [
    {
      path: '/iam/users',
      read: async ({ records }) => [{ name: users.name, labels: {}, value: (await collectAll(records)).length }],
    },
    createKeyRead('service'),
    createKeyRead('user'),
  ],
};

function createKeyRead(kind: 'service' | 'user'): AccountRead {
  return {
    path: `/iam/${kind}_keys`,
    async read({ records, reportDrop }) {
      const keyRecords = await collectAll(records);
      return [
        { name: keys.name, labels: { kind }, value: keyRecords.length },
        ...extremeSample(oldestKey, 'least', keyRecords, { kind }, reportDrop),
        ...extremeSample(nextExpiry, 'least', keyRecords, { kind }, reportDrop),
      ];
    },
  };
}
