import { checkIns } from '../common.ts';
import { limits } from '../limits.ts';
import { upOrDown } from '../mappings.ts';
import { number, table, words } from '../numbers.ts';
import { more } from '../places.ts';
import { select } from '../select.ts';
import { oneIsGood, plain } from '../steps.ts';

/** Which appliance it is, and how it is. */
export const identityPanels = [
  number(
    {
      title: 'Reporting',
      description:
        'Whether the portal has telemetry of the appliance. When it is down while others are up, check that the appliance runs and sends telemetry, and what the exporter’s status page says of it.',
      queries: [{ expr: `min by (filer) (${select('filer_appliance_up')})`, legend: '{{filer}}' }],
      steps: oneIsGood,
      width: 4,
    },
    upOrDown,
  ),
  number({
    title: 'Health score',
    description:
      'What the portal makes of the appliance, 0 to 100. Below 80, open its health page there: it names the checks that fail. Empty where the series is not polled or the portal gives a word.',
    queries: [{ expr: `min by (filer) (${select('filer_appliance_health_score')})`, legend: '{{filer}}' }],
    steps: limits.healthScore,
    width: 4,
    empty: 'not polled',
  }),
  words({
    title: 'Health in words',
    description:
      'The portal’s own word for the health of the appliance. Anything but the usual one: open its health page there.',
    queries: [
      { expr: `max by (filer, status) (${select('filer_appliance_health_info')})`, legend: '{{filer}}: {{status}}' },
    ],
    steps: plain,
    width: 4,
    empty: 'not polled',
  }),
  number({
    title: 'Running for',
    description:
      'Time since the appliance started. A short time that nobody planned is a crash or a power cut: see its notifications.',
    queries: [{ expr: `min by (filer) (${select('filer_appliance_uptime_seconds')})`, legend: '{{filer}}' }],
    steps: plain,
    width: 4,
  }),
  number({
    title: 'Last check-in',
    description:
      'When file acceleration heard of the filer last. Above 5 minutes while telemetry arrives points to the acceleration service on the appliance.',
    queries: [{ expr: checkIns('filer'), legend: '{{filer}}' }],
    steps: limits.checkIn,
    width: 4,
    links: [more('volumes')],
  }),
  number({
    title: 'Oldest unprotected data',
    description:
      'Age of the oldest data of this filer that is not yet in cloud storage. When it grows, see its locks and propagation on the other dashboard.',
    queries: [
      {
        expr: `max by (filer) (${select('volume_filer:oldest_unprotected_data_age:seconds')})`,
        legend: '{{filer}}',
      },
    ],
    steps: limits.unprotected,
    width: 4,
    links: [more('volumes')],
    empty: 'nothing waits',
  }),
  table({
    title: 'What it is',
    description:
      'Kind, build and processor cores of the appliance, and the build that it could be updated to. One that waits: plan the update.',
    queries: [
      {
        expr: `max by (filer, serial) (${select('filer_appliance_cpu_cores')}) * on (filer, serial) group_right () max by (filer, serial, type, build, available_build) (${select('filer_appliance_info')})`,
        legend: 'Cores',
      },
    ],
    columns: [
      { label: 'filer', title: 'Name' },
      { label: 'serial', title: 'Serial' },
      { label: 'type', title: 'Kind' },
      { label: 'build', title: 'Build' },
      { label: 'available_build', title: 'Update' },
    ],
    steps: plain,
    width: 24,
    height: 5,
  }),
];
