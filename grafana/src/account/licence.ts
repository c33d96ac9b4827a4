import { alertTable } from '../alerts/table.ts';
import { limits } from '../limits.ts';
import { words as named } from '../mappings.ts';
import { number, table, words } from '../numbers.ts';
import { select } from '../select.ts';
import { noneAllowed, oneIsGood, plain } from '../steps.ts';

/** Whose account it is, and what it may. */
export const licencePanels = [
  number({
    title: 'Subscription ends',
    description: 'Time until the subscription ends. Below two months begin to renew it; below one it is urgent.',
    queries: [{ expr: `min(${select('filer_license_expiry_timestamp_seconds')}) - time()`, legend: 'left' }],
    steps: limits.licenceLeft,
    width: 4,
    empty: 'no end',
  }),
  number(
    {
      title: 'Portal',
      description:
        'What the portal says of its own health. When it is ill, missing values are its fault: see the vendor’s status page.',
      queries: [{ expr: `min(${select('filer_portal_healthy')})`, legend: 'health' }],
      steps: oneIsGood,
      width: 4,
    },
    named([1, 'healthy', 'green'], [0, 'ill', 'red']),
  ),
  number({
    title: 'Next key to expire',
    description:
      'Time until the first key of each kind expires. Below a month make a new one and hand it to what uses the old: the exporter may be among them.',
    queries: [
      {
        expr: `min(${select('filer_iam_next_key_expiry_timestamp_seconds')}) - time()`,
        legend: 'left',
      },
    ],
    steps: limits.keyLeft,
    width: 4,
    empty: 'none does',
  }),
  number({
    title: 'Failed jobs',
    description:
      'Jobs that failed and that nobody has acknowledged in the portal. Read each there, try it again or acknowledge it.',
    queries: [
      { expr: `sum(max by (resource, action) (${select('filer_jobs_failed_unacknowledged')}))`, legend: 'failed' },
    ],
    steps: noneAllowed,
    width: 4,
    empty: 'not polled',
  }),
  number({
    title: 'Bad credentials',
    description:
      'Cloud credentials on appliances that the portal tells an error of. A volume that uses one of them cannot write to its cloud: mend it at once.',
    queries: [
      { expr: `sum(max by (type) (${select('filer_cloud_credentials_with_error')}))`, legend: 'with an error' },
    ],
    steps: noneAllowed,
    width: 4,
    empty: 'not polled',
  }),
  number({
    title: 'Files indexed',
    description:
      'Share of the files that the subscription allows to be indexed. Near all of it, new files are not found any more: exclude volumes, or buy more.',
    queries: [
      {
        expr: `max(${select('filer_indexing_consumed_files')}) / max(${select('filer_indexing_limit_files')})`,
        legend: 'used',
      },
    ],
    steps: limits.indexed,
    width: 4,
  }),
  alertTable({
    title: 'What is broken',
    about: { pages: ['portal'] },
    scope: { filer: 'with account', volume: 'with account' },
    height: 8,
  }),
];

/** Whose account it is. */
export const accountPanels = [
  words({
    title: 'Account',
    description:
      'The portal account that is polled, and its company. When it is not the one you expect, the exporter has the wrong key.',
    queries: [
      {
        expr: `max by (account, company) (${select('filer_portal_account_info')})`,
        legend: '{{company}} ({{account}})',
      },
    ],
    steps: plain,
    width: 6,
    height: 6,
  }),
  words({
    title: 'Subscription is',
    description:
      'The state of the subscription in the portal’s words. Anything but active: talk to whoever buys it, before data can no longer be written.',
    queries: [{ expr: `max by (status) (${select('filer_license_info')})`, legend: '{{status}}' }],
    steps: plain,
    width: 6,
    height: 6,
  }),
  table({
    title: 'Features',
    description:
      'What the licence has, 1, and has not, 0. Without ops_iq_premium the telemetry of appliances is forbidden, and their panels stay empty.',
    queries: [{ expr: `topk(50, max by (feature) (${select('filer_license_feature_enabled')}))`, legend: 'Licensed' }],
    columns: [{ label: 'feature', title: 'Feature' }],
    steps: plain,
    width: 12,
    height: 6,
  }),
];
