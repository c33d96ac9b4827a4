import { failingSnapshots, licenceLeft } from '../common.ts';
import { limits } from '../limits.ts';
import { orNoEnd } from '../mappings.ts';
import { number } from '../numbers.ts';
import { more } from '../places.ts';
import { select } from '../select.ts';
import { noneAllowed, noneExpected, plain } from '../steps.ts';

/** What the portal tells beside telemetry. */
export const portalPanels = [
  number({
    title: 'Unprotected data',
    description:
      'Data of all volumes and appliances that is not yet in cloud storage. When it grows for a day, the Snapshots dashboard says where.',
    queries: [
      { expr: `sum(max by (serial, volume_guid) (${select('filer_volume_unprotected_bytes')}))`, legend: 'all' },
    ],
    steps: plain,
    width: 8,
    links: [more('snapshots')],
  }),
  number({
    title: 'Snapshots failing',
    description:
      'Volumes on appliances whose current snapshot has failed, or whose metadata failed again and again in the last hour. New data there is not protected until it is corrected.',
    queries: [{ expr: failingSnapshots, legend: 'failing' }],
    steps: noneAllowed,
    width: 8,
    links: [more('snapshots')],
  }),
  number({
    title: 'Unreachable',
    description: 'Appliances that the portal cannot reach. The Fleet dashboard has more; check their lines first.',
    queries: [
      { expr: `sum(max by (serial) (${select('filer_appliance_reachable')}) == bool 0)`, legend: 'unreachable' },
    ],
    steps: noneAllowed,
    width: 8,
    links: [more('fleet')],
  }),
  number({
    title: 'Updates waiting',
    description: 'Appliances that the portal offers another build. Plan the update for a quiet hour.',
    queries: [{ expr: `sum(max by (serial) (${select('filer_appliance_update_available')}))`, legend: 'waiting' }],
    steps: noneExpected,
    width: 8,
    links: [more('fleet')],
  }),
  number({
    title: 'Jobs failed',
    description: 'Failed jobs of the portal without an acknowledgement. Read them there.',
    queries: [
      { expr: `sum(max by (resource, action) (${select('filer_jobs_failed_unacknowledged')}))`, legend: 'failed' },
    ],
    steps: noneAllowed,
    width: 8,
    links: [more('account')],
    empty: 'not polled',
  }),
  number(
    {
      title: 'Subscription',
      description: 'Time until the subscription of the account ends. Below two months begin to renew it.',
      queries: [{ expr: licenceLeft, legend: 'left' }],
      steps: limits.licenceLeft,
      width: 8,
      links: [more('account')],
    },
    orNoEnd,
  ),
];
