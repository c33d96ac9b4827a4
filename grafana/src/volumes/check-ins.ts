import { timeline } from '../charts.ts';
import { checkIns } from '../common.ts';
import { limits } from '../limits.ts';
import { ranges } from '../mappings.ts';
import { number, table, words } from '../numbers.ts';
import { drillDown } from '../places.ts';
import { select } from '../select.ts';
import { noneAllowed, plain } from '../steps.ts';

const byFiler = checkIns('filer');
const onVolumes = select('volume_filer:last_checkin_age:seconds');

/** Whether filers are in touch with file acceleration. */
export const checkInPanels = [
  words({
    title: 'Account',
    description:
      'The account that the file acceleration key belongs to. When it is not the one you expect, the exporter has the wrong key.',
    queries: [{ expr: `max by (account) (${select('filer_account_info')})`, legend: '{{account}}' }],
    steps: plain,
    width: 8,
  }),
  number({
    title: 'Accelerated volumes',
    description:
      'Volumes of the account with file acceleration. When one is missing, look at its settings in the management console.',
    queries: [{ expr: `max(${select('filer_gfa_volumes')})`, legend: 'volumes' }],
    steps: plain,
    width: 4,
  }),
  number({
    title: 'Filers',
    description: 'Filers that file acceleration knows, on the volumes chosen above.',
    queries: [{ expr: `count(${checkIns('filer_guid')})`, legend: 'known' }],
    steps: plain,
    width: 4,
  }),
  number({
    title: 'Missing filers',
    description: 'Filers not heard of for more than 30 minutes. The table below names them.',
    queries: [{ expr: `sum(${byFiler} > bool ${limits.missingCheckIn})`, legend: 'missing' }],
    steps: noneAllowed,
    width: 4,
  }),
  number({
    title: 'Longest silence',
    description:
      'The filer that was heard of longest ago. Above an hour its changes reach nobody: check the appliance and its line.',
    queries: [{ expr: `topk(1, ${byFiler})`, legend: '{{filer}}' }],
    steps: limits.checkIn,
    width: 4,
    drill: [drillDown('appliance', 'filer')],
  }),
  timeline(
    {
      title: 'Check-in state',
      description:
        'Each filer by how long ago it was heard of: under 5 minutes, up to 1 hour, above. One bar that turns red is an appliance that is off or cut off; all at once is the service.',
      queries: [{ expr: byFiler, legend: '{{filer}}' }],
      steps: limits.checkIn,
      width: 16,
      drill: [drillDown('appliance', 'filer')],
    },
    ranges([0, 'under 5 minutes', 'green'], [300, '5 minutes to 1 hour', 'yellow'], [3600, 'above 1 hour', 'red']),
  ),
  table({
    title: 'Missing check-ins',
    description:
      'Filers not heard of for more than 30 minutes, and for how long. Check that the appliance runs, that its clock is right and that it reaches the internet; what it holds is not protected meanwhile.',
    queries: [{ expr: `sort_desc(${byFiler} > ${limits.missingCheckIn})`, legend: 'Silent for' }],
    columns: [{ label: 'filer', title: 'Filer', link: drillDown('appliance', 'filer', `$\{__value.text}`) }],
    steps: limits.checkIn,
    width: 8,
    height: 10,
    empty: 'every filer checks in',
  }),
  table({
    title: 'Last activity by filer and volume',
    description:
      'Time since a filer was last active on a volume. Long quiet is usual outside office hours; on a volume in daily use it means that users work elsewhere, or cannot work.',
    queries: [{ expr: `sort_desc(max by (filer, volume) (${onVolumes}))`, legend: 'Quiet for' }],
    columns: [
      { label: 'filer', title: 'Filer', link: drillDown('volumes', 'filer', `$\{__value.text}`) },
      { label: 'volume', title: 'Volume', link: drillDown('volumes', 'volume', `$\{__value.text}`) },
    ],
    steps: plain,
    width: 24,
  }),
];
