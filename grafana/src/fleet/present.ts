import { applianceStates } from '../common.ts';
import { limits } from '../limits.ts';
import { number, ranking, stepsOf, table } from '../numbers.ts';
import { drillDown } from '../places.ts';
import { select } from '../select.ts';
import { noneAllowed, noneExpected, plain } from '../steps.ts';

const up = select('filer_appliance_up');
const info = select('filer_appliance_info');
const telemetryAge = `time() - max by (filer) (${select('filer_appliance_series_timestamp_seconds')})`;

/** Which appliances there are, and which of them are silent. */
export const presentPanels = [
  stepsOf(
    number({
      title: 'Appliances',
      description:
        'Appliances of the inventory that report, and those that do not. The table below names the silent ones.',
      queries: applianceStates(),
      steps: plain,
      width: 8,
    }),
    ['no records', 'not polled'],
    noneAllowed,
  ),
  number({
    title: 'By kind',
    description:
      'Appliances by kind, as the inventory has them. A number that changes without a change of yours is one that joined or left: ask who did it.',
    queries: [{ expr: `count by (type) (max by (serial, type) (${info}))`, legend: '{{type}}' }],
    steps: plain,
    width: 8,
  }),
  number({
    title: 'Updates waiting',
    description:
      'Appliances that the portal offers another build, and those with an older one than the newest download. Plan the update; builds far apart are harder to support.',
    queries: [
      { expr: `sum(max by (serial) (${select('filer_appliance_update_available')}))`, legend: 'offered' },
      { expr: `sum(max by (serial) (${select('filer_appliance_software_outdated')}))`, legend: 'behind the newest' },
    ],
    steps: noneExpected,
    width: 8,
  }),
  table({
    title: 'Not reporting',
    description:
      'Appliances whose telemetry did not answer at the latest polls. Check that each runs and sends telemetry; the exporter’s status page has the last error in words.',
    queries: [{ expr: `max by (filer, serial) (${up} == 0)`, legend: 'Up' }],
    columns: [
      { label: 'filer', title: 'Appliance', link: drillDown('appliance', 'filer', `$\{__value.text}`) },
      { label: 'serial', title: 'Serial' },
    ],
    steps: noneAllowed,
    width: 8,
    empty: 'every appliance reports',
  }),
  ranking({
    title: 'By build',
    description:
      'Appliances by build. Behaviour that differs between appliances often differs by build: compare before you look further.',
    queries: [{ expr: `sort_desc(count by (build) (max by (serial, build) (${info})))`, legend: '{{build}}' }],
    steps: plain,
    width: 8,
  }),
  ranking({
    title: 'Oldest telemetry',
    description:
      'Appliances by the age of their newest telemetry. Those at the top report late or no more; all alike is the portal or the exporter.',
    queries: [{ expr: `topk($top, ${telemetryAge})`, legend: '{{filer}}' }],
    steps: limits.telemetryAge,
    width: 8,
    drill: [drillDown('appliance', 'filer')],
  }),
];
