import type { Family, Fields } from '../../../metrics/family.ts';
import type { NoteDrop, Sample } from '../../../metrics/samples.ts';
import { date, listLength } from '../../../metrics/units.ts';
import { type AccountRead, accountTasks, type CollectorRow } from '../collector-row.ts';
import { extremeSample } from '../extremes.ts';
import { listed } from '../records.ts';

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
  from: date,
  fields: { expiration: {} },
  optional: true,
} as const satisfies Family;

/** The number of users and keys, and the age of the keys. No names, no owners, no keys. */
export const iam: CollectorRow = {
  name: 'iam',
  intervalMs: 3_600_000,
  tables: [
    { source: 'GET /iam/users', subject: [], families: [users] },
    { source: 'GET /iam/service_keys', subject: ['kind'], families: [keys, oldestKey] },
    { source: 'GET /iam/user_keys', subject: ['kind'], families: [keys, oldestKey, nextExpiry] },
  ],
  cost: { account: 3, perAppliance: 0, perVolume: 0 },
  size: { account: 6 },
  create: (parts, intervalMs) =>
    accountTasks(parts, intervalMs, [
      { operation: 'iam_users', path: '/iam/users', read: readUsers },
      keyRead('service', 'service_keys'),
      keyRead('user', 'user_keys'),
    ]),
};

function* readUsers(body: unknown, note: NoteDrop): Generator<void, Sample[]> {
  let count = 0;
  for (const _ of listed(body, 'GET /iam/users', note)) {
    count += 1;
    yield;
  }
  return [{ name: users.name, labels: {}, value: count }];
}

function keyRead(kind: 'service' | 'user', segment: string): AccountRead {
  const path = `/iam/${segment}`;
  return {
    operation: `iam_${segment}`,
    path,
    *read(body, note) {
      const all: Fields[] = [];
      for (const key of listed(body, `GET ${path}`, note)) {
        all.push(key);
        yield;
      }
      return [
        { name: keys.name, labels: { kind }, value: all.length },
        ...extremeSample(oldestKey, 'date_created', all, 'least', { kind }, note),
        ...extremeSample(nextExpiry, 'expiration', all, 'least', { kind }, note),
      ];
    },
  };
}
