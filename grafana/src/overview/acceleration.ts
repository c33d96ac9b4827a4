import { chart } from '../charts.ts';
import { checkIns, dataWaits, once, quantiles } from '../common.ts';
import { limits } from '../limits.ts';
import { drillDown, more } from '../places.ts';
import { quantileOfHour, select } from '../select.ts';
import { plain } from '../steps.ts';
import { worst } from '../worst.ts';

const contact = checkIns('filer_guid, filer');
const propagation = 'filer_propagation_duration_seconds';

/** File acceleration over time. */
export const accelerationPanels = [
  chart({
    title: 'Propagation time',
    description:
      'How long data took to reach other filers, in the last hour on the volumes that are chosen. A p99 far above p90 is a single slow filer or volume; when all rise together, look at the locks and at the cloud side.',
    queries: quantiles((share) => quantileOfHour(share, propagation)),
    steps: limits.propagation,
    width: 12,
    links: [more('volumes')],
  }),
  chart({
    title: 'Oldest unprotected data, the worst filers',
    description:
      'The filers with the oldest data that is not yet in cloud storage. A line that only climbs protects nothing any more: open the filer and see whether it gets the lock.',
    queries: [{ expr: worst(10, `max by (filer) (${dataWaits})`), legend: '{{filer}}' }],
    steps: limits.unprotected,
    width: 12,
    drill: [drillDown('volumes', 'filer')],
    empty: 'no data known to wait',
  }),
  chart({
    title: 'Filers by time since check-in',
    description:
      'How many filers were heard of within 5 minutes, within half an hour, or longer ago. Many that turn at once point to the service or the network, one alone to its appliance.',
    queries: [
      { expr: `sum(${contact} <= bool 300)`, legend: 'under 5 minutes' },
      {
        expr: `sum(${contact} <= bool ${limits.missingCheckIn}) - sum(${contact} <= bool 300)`,
        legend: '5 to 30 minutes',
      },
      { expr: `sum(${contact} > bool ${limits.missingCheckIn})`, legend: 'above 30 minutes' },
    ],
    steps: plain,
    width: 12,
    stacked: true,
    links: [more('volumes')],
  }),
  chart({
    title: 'Lock releases, the busiest volumes',
    description:
      'How often filers finished with the lock of a volume in the last hour. A volume that falls to zero takes no snapshots: find out who holds its lock.',
    queries: [
      {
        expr: worst(
          10,
          `round(sum by (volume) (${once(select('volume:filer_lock_events_total:increase1h', { lock_phase: '="p2"', lock_state: '="released"' }))}))`,
        ),
        legend: '{{volume}}',
      },
    ],
    steps: plain,
    width: 12,
    drill: [drillDown('volumes', 'volume')],
  }),
];
