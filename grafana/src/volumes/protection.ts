import { chart } from '../charts.ts';
import { dataWaits } from '../common.ts';
import { limits } from '../limits.ts';
import { number, table } from '../numbers.ts';
import { drillDown } from '../places.ts';
import { select } from '../select.ts';
import { worst } from '../worst.ts';

const info = select('filer_volume_info');
const timeToProtect = `max by (job, volume_guid, volume) (${select('filer_volume_time_to_protect_seconds')}) * on (job, volume_guid) group_left (mode, profile) max by (job, volume_guid, mode, profile) (${info})`;

/** Shows the data that is not yet in cloud storage, and how long it takes to get there. */
export const protectionPanels = [
  chart({
    title: 'Unprotected, the worst filers',
    ofAll: true,
    times: 'h',
    description:
      'Age of the oldest data that is not yet in cloud storage. It falls to zero with each snapshot. If it only grows, the filer gets no lock, has no connection, or its snapshots fail.',
    queries: { expr: worst(10, `max by (filer) (${dataWaits})`), legend: '{{filer}}' },
    steps: limits.unprotected,
    width: 12,
    drill: [drillDown('appliance', 'filer')],
  }),
  chart({
    title: 'Unprotected, the worst volumes',
    ofAll: true,
    times: 'h',
    description:
      'The same by volume, for its worst filer. If one volume is much worse than the others, see who holds its lock, or look for a very large change.',
    queries: { expr: worst(10, `max by (volume) (${dataWaits})`), legend: '{{volume}}' },
    steps: limits.unprotected,
    width: 12,
    drill: [drillDown('volumes', 'volume')],
  }),
  chart({
    title: 'Time to protect, the slowest volumes',
    ofAll: true,
    times: 'min',
    description:
      'How long file acceleration takes to protect the data of a volume, with the mode and profile that it works in. A profile that favours collaboration protects data later: change it if protection is more important.',
    queries: { expr: worst(10, timeToProtect), legend: '{{volume}}: {{mode}} {{profile}}' },
    steps: limits.timeToProtect,
    width: 24,
    drill: [drillDown('volumes', 'volume')],
  }),
  table({
    title: 'Volumes',
    description:
      'The mode of file acceleration for each volume: Active controls locks and snapshots, Observation only measures, Disabled does nothing. Change the mode in the management console.',
    queries: { expr: `topk(50, ${timeToProtect})`, legend: 'Time to protect' },
    columns: [
      { label: 'volume', title: 'Volume', link: drillDown('volumes', 'volume', `$\{__value.text}`) },
      { label: 'mode', title: 'Mode' },
      { label: 'profile', title: 'Profile' },
    ],
    steps: limits.timeToProtect,
    width: 16,
  }),
  number({
    title: 'Age of what the service knows',
    description:
      'Age of the newest record of each group. If check-ins are old too, the service receives nothing from the account. If only one group is old, no such event has happened.',
    queries: { expr: `time() - max by (group) (${select('filer_record_timestamp_seconds')})`, legend: '{{group}}' },
    width: 8,
    height: 8,
  }),
];
