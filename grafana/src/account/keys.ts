import { limits } from '../limits.ts';
import { number, table } from '../numbers.ts';
import { select } from '../select.ts';
import { noneAllowed, noneExpected, plain } from '../steps.ts';

/** Who and what may get in: users, keys, cloud credentials. Never a key itself. */
export const keyPanels = [
  number({
    title: 'Users',
    description:
      'Users of the portal account. If the number rises without a change of yours, find out who was added, and why.',
    queries: [{ expr: `max(${select('filer_iam_users')})`, legend: 'users' }],
    steps: plain,
    width: 8,
  }),
  number({
    title: 'Keys',
    description: 'Service keys and user keys of the account. Programs should use service keys; remove unused ones.',
    queries: [{ expr: `max by (kind) (${select('filer_iam_keys')})`, legend: '{{kind}}' }],
    steps: plain,
    width: 8,
  }),
  number({
    title: 'Oldest key',
    description: 'Age of the oldest key of each kind. Replace keys older than a year.',
    queries: [
      {
        expr: `time() - min by (kind) (${select('filer_iam_oldest_key_created_timestamp_seconds')})`,
        legend: '{{kind}}',
      },
    ],
    steps: limits.keyAge,
    width: 8,
  }),
  number({
    title: 'Key expires in',
    description:
      'Time until the first key of each kind expires. Below a month, create a new one and replace it in every client of the old one; the exporter may be one.',
    queries: [
      {
        expr: `min by (kind) (${select('filer_iam_next_key_expiry_timestamp_seconds')}) - time()`,
        legend: '{{kind}}',
      },
    ],
    steps: limits.keyLeft,
    width: 8,
    empty: 'none known',
  }),
  number({
    title: 'Acceleration keys',
    description: 'Keys of the file acceleration service, and those that were never used. Remove unused keys.',
    queries: [
      { expr: `max(${select('filer_gfa_api_keys')})`, legend: 'all' },
      { expr: `max(${select('filer_gfa_api_keys_unused')})`, legend: 'never used' },
    ],
    steps: plain,
    width: 8,
  }),
  number({
    title: 'Age and use of acceleration keys',
    description:
      'Age of the oldest file acceleration key, and time since any of them was used. Not used for an hour while the exporter runs: it uses another account.',
    queries: [
      {
        expr: `time() - min(${select('filer_gfa_api_key_oldest_created_timestamp_seconds')})`,
        legend: 'oldest made',
      },
      { expr: `time() - max(${select('filer_gfa_api_key_last_used_timestamp_seconds')})`, legend: 'last used' },
    ],
    steps: limits.keyAge,
    width: 8,
  }),
  number({
    title: 'Cloud credentials with an error',
    description:
      'Cloud credentials on appliances with an error. A volume that uses one of them cannot write to its cloud: correct it at once.',
    queries: [{ expr: `max by (type) (${select('filer_cloud_credentials_with_error')})`, legend: '{{type}}' }],
    steps: noneAllowed,
    width: 12,
    height: 6,
  }),
  table({
    title: 'Cloud credentials',
    description:
      'Credentials on appliances by status, kind of cloud, and whether a volume uses them. Those not in use can go; failed ones in use come first.',
    queries: [
      {
        expr: `topk(50, max by (status, type, in_use) (${select('filer_cloud_credentials')} > 0))`,
        legend: 'Credentials',
      },
    ],
    columns: [
      { label: 'type', title: 'Cloud' },
      { label: 'status', title: 'Status' },
      { label: 'in_use', title: 'In use' },
    ],
    steps: noneExpected,
    width: 12,
    height: 6,
  }),
];
