import { limits } from '../limits.ts';
import { words as named } from '../mappings.ts';
import { number, table, words } from '../numbers.ts';
import { select } from '../select.ts';
import { oneIsGood, plain } from '../steps.ts';

/** Whose account it is, and what it may. */
export const licencePanels = [
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
    width: 8,
  }),
  words({
    title: 'Subscription',
    description:
      'The state of the subscription in the portal’s words. Anything but active: talk to whoever buys it, before data can no longer be written.',
    queries: [{ expr: `max by (status) (${select('filer_license_info')})`, legend: '{{status}}' }],
    steps: plain,
    width: 4,
  }),
  number({
    title: 'Subscription ends in',
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
    title: 'Files left to index',
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
  table({
    title: 'Features',
    description:
      'What the licence has, 1, and has not, 0. Without ops_iq_premium the telemetry of appliances is forbidden, and their panels stay empty.',
    queries: [{ expr: `sort_desc(max by (feature) (${select('filer_license_feature_enabled')}))`, legend: 'Licensed' }],
    columns: [{ label: 'feature', title: 'Feature' }],
    steps: plain,
    width: 24,
    height: 6,
  }),
];
