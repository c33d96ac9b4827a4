import { alertTable } from '../alerts/table.ts';
import { licenceLeft } from '../common.ts';
import { limits } from '../limits.ts';
import { words as named, orNoEnd } from '../mappings.ts';
import { number, table, words } from '../numbers.ts';
import { select } from '../select.ts';
import { noneExpected, oneIsGood } from '../steps.ts';

/** Shows which account it is, and what its licence allows. */
export const licencePanels = [
  number(
    {
      title: 'Subscription',
      description:
        'Time until the subscription ends. Below two months, begin to renew it. Below one month, it is urgent.',
      queries: { expr: licenceLeft, legend: 'left' },
      steps: limits.licenceLeft,
      width: 4,
    },
    orNoEnd,
  ),
  number(
    {
      title: 'Portal',
      description:
        'The health that the portal reports. While it is unhealthy, missing values may be caused by it: see its runbook, FilerPortalUnhealthy.',
      queries: { expr: `min(${select('filer_portal_healthy')})`, legend: 'health' },
      steps: oneIsGood,
      width: 4,
    },
    named([1, 'healthy'], [0, 'unhealthy']),
  ),
  number({
    title: 'Key expires in',
    description:
      'Time until the first key of each kind expires. Below a month, create a new key and give it to every program that uses the old one; the exporter may be one of them.',
    queries: {
      expr: `min(${select('filer_iam_next_key_expiry_timestamp_seconds')}) - time()`,
      legend: 'left',
    },
    steps: limits.keyLeft,
    width: 4,
  }),
  number({
    title: 'Failed jobs',
    description:
      'Failed jobs without an acknowledgement in the portal. Read each there, then repeat or acknowledge it.',
    queries: {
      expr: `sum(max by (resource, action) (${select('filer_jobs_failed_unacknowledged')}))`,
      legend: 'failed',
    },
    steps: noneExpected,
    width: 4,
  }),
  number({
    title: 'Credentials',
    description:
      'Cloud credentials on appliances with an error. A volume that uses one of them cannot write to its cloud: correct it at once.',
    queries: { expr: `sum(max by (type) (${select('filer_cloud_credentials_with_error')}))`, legend: 'with an error' },
    steps: noneExpected,
    width: 4,
  }),
  number({
    title: 'Files indexed',
    description:
      'Share of the files that the subscription allows to be indexed. Near the limit, a search does not find new files: exclude volumes, or extend the subscription.',
    queries: {
      expr: `max(${select('filer_indexing_consumed_files')}) / max(${select('filer_indexing_limit_files')})`,
      legend: 'used',
    },
    steps: limits.indexed,
    width: 4,
  }),
  alertTable({
    title: 'What is broken',
    about: { pages: ['portal'] },
    scope: {},
    height: 8,
  }),
];

/** Shows which account it is. */
export const accountPanels = [
  words({
    title: 'Account',
    description:
      'The polled portal account, and its company. If it is another one than expected, the exporter has the wrong key.',
    queries: {
      expr: `max by (account, company) (${select('filer_portal_account_info')})`,
      legend: '{{company}} {{account}}',
    },
    width: 6,
    height: 6,
  }),
  words({
    title: 'Subscription is',
    description:
      'The state of the subscription in the portal’s words. If it is not active, inform purchasing before writes fail.',
    queries: { expr: `max by (status) (${select('filer_license_info')})`, legend: '{{status}}' },
    width: 6,
    height: 6,
  }),
  table({
    title: 'Features',
    description:
      'The features of the licence: 1 if it has one, else 0. Without ops_iq_premium the portal rejects telemetry, and the panels stay empty.',
    queries: { expr: `topk(50, max by (feature) (${select('filer_license_feature_enabled')}))`, legend: 'Licensed' },
    columns: [{ label: 'feature', title: 'Feature' }],
    width: 12,
    height: 6,
  }),
];
