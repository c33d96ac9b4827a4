import { timeline } from '../charts.ts';
import { checkIns, checkInsOverTime } from '../common.ts';
import { limits } from '../limits.ts';
import { none, ranges } from '../mappings.ts';
import { orNone } from '../nothing.ts';
import { table, words } from '../numbers.ts';
import { drillDown } from '../places.ts';
import { select } from '../select.ts';
import { whileUp } from '../service.ts';

const byFiler = checkInsOverTime('filer');
// The tables of this moment need no recording rule.
const onVolumes = whileUp('gfa', select('filer_volume_last_checkin_timestamp_seconds'));

/** Shows whether filers are in contact with file acceleration. */
export const checkInPanels = [
  timeline(
    {
      title: 'Check-in state',
      description:
        'The twenty filers that checked in longest ago: below 5 minutes, up to 30 minutes, or longer. If one turns red, its appliance is off or disconnected. If all do, the service fails.',
      queries: { expr: byFiler, legend: '{{filer}}' },
      steps: limits.checkIn,
      width: 16,
      drill: [drillDown('appliance', 'filer')],
    },
    ranges([0, 'under 5 minutes'], [300, '5 to 30 minutes'], [limits.missingCheckIn, 'above 30 minutes']),
  ),
  table({
    title: 'Not checking in',
    description:
      'Filers that have not checked in for more than 30 minutes, and for how long. Check that the appliance runs, that its clock is right and that it reaches the internet; until then its new data is not protected.',
    queries: {
      expr: orNone(`topk(50, ${checkIns('filer')} > ${limits.missingCheckIn})`, checkIns('filer'), 'filer'),
      legend: 'Check-in',
    },
    columns: [{ label: 'filer', title: 'Filer', link: drillDown('appliance', 'filer', `$\{__value.text}`) }],
    steps: limits.checkIn,
    mappingsBy: { 'Check-in': none },
    width: 8,
    height: 13,
  }),
  table({
    title: 'Time since check-in, by filer and volume',
    description:
      'Time since a filer was last active on a volume, the fifty longest. A long time is normal outside office hours. On a volume in daily use it means that users work elsewhere, or cannot work.',
    queries: { expr: `topk(50, time() - max by (filer, volume) (${onVolumes}))`, legend: 'Check-in' },
    columns: [
      { label: 'filer', title: 'Filer', link: drillDown('volumes', 'filer', `$\{__value.text}`) },
      { label: 'volume', title: 'Volume', link: drillDown('volumes', 'volume', `$\{__value.text}`) },
    ],
    width: 16,
  }),
  words({
    title: 'Account',
    description:
      'The account that the file acceleration key belongs to. If it is not the one that you expect, the exporter has the wrong key.',
    queries: { expr: `max by (account) (${select('filer_account_info')})`, legend: '{{account}}' },
    width: 8,
    height: 8,
  }),
];
