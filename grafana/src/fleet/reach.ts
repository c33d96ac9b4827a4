import { chart } from '../charts.ts';
import { limits } from '../limits.ts';
import { LABELS_ALONE, number, stepsOf, table } from '../numbers.ts';
import { drillDown } from '../places.ts';
import { select } from '../select.ts';
import { noneAllowed, plain } from '../steps.ts';
import { worst } from '../worst.ts';

const reachable = select('filer_appliance_reachable');
const synced = select('filer_appliance_synced');
const lastSeen = `time() - max by (filer) (${select('filer_appliance_last_seen_timestamp_seconds')})`;

const fiq = `bottomk(50, max by (filer, serial) (${select('filer_fiq_appliance_enabled')}))`;
const ofFiq = (query: string) => `${query} and on (filer, serial) ${fiq}`;

/** Whether the portal reaches the appliances, and what they are to each other. */
export const reachPanels = [
  stepsOf(
    number({
      title: 'Reached by the portal',
      description:
        'Appliances that the portal can reach, and those it cannot. One that is not reached takes no settings and no updates: check its line and the firewall.',
      queries: [
        { expr: `sum(max by (serial) (${reachable}))`, legend: 'reachable' },
        { expr: `sum(max by (serial) (${reachable}) == bool 0)`, legend: 'unreachable' },
      ],
      steps: plain,
      width: 6,
      height: 8,
    }),
    'unreachable',
    noneAllowed,
  ),
  stepsOf(
    number({
      title: 'Settings taken over',
      description:
        'Appliances that run with the settings of the portal, and those that have not taken them over yet. One that stays behind: look at its jobs.',
      queries: [
        { expr: `sum(max by (serial) (${synced}))`, legend: 'synced' },
        { expr: `sum(max by (serial) (${synced}) == bool 0)`, legend: 'behind' },
      ],
      steps: plain,
      width: 6,
      height: 8,
    }),
    'behind',
    noneAllowed,
  ),
  chart({
    title: 'Last seen by the portal, the longest ago',
    description:
      'Time since the portal last heard of an appliance. One that climbs is off or cut off; all together is the portal, or the exporter that reads it.',
    queries: [{ expr: worst(10, lastSeen), legend: '{{filer}}' }],
    steps: limits.lastSeen,
    width: 12,
    drill: [drillDown('appliance', 'filer')],
  }),
  number({
    title: 'Services switched on',
    description:
      'Appliances with each service. If the number falls without a change of yours, a service was switched off: see the jobs of the account.',
    queries: [
      {
        expr: `sum by (service) (max by (serial, service) (${select('filer_appliance_service_enabled')}))`,
        legend: '{{service}}',
      },
    ],
    steps: plain,
    width: 12,
    height: 6,
  }),
  number({
    title: 'Volumes by role',
    description:
      'Volumes that appliances own, and connections to volumes of others. A volume without an owner that works takes no new snapshots.',
    queries: [
      { expr: `sum by (role) (max by (serial, role) (${select('filer_appliance_volumes')}))`, legend: '{{role}}' },
    ],
    steps: plain,
    width: 12,
    height: 6,
  }),
  table({
    title: 'File-intelligence appliances',
    description:
      'Appliances that index files, and how many edge appliances they serve. One that is off indexes nothing: searches miss what is new.',
    queries: [
      { expr: fiq, legend: 'On' },
      { expr: ofFiq(`max by (filer, serial) (${select('filer_fiq_appliance_edges')})`), legend: 'Edges' },
      {
        expr: `topk(50, ${ofFiq(`max by (filer, serial, build) (${select('filer_fiq_appliance_info')})`)})`,
        legend: LABELS_ALONE,
      },
    ],
    columns: [
      { label: 'filer', title: 'Appliance', link: drillDown('appliance', 'filer', `$\{__value.text}`) },
      { label: 'build', title: 'Build' },
    ],
    steps: plain,
    width: 12,
    height: 6,
  }),
  table({
    title: 'Edges with file intelligence',
    description:
      'Edge appliances that a file-intelligence appliance serves, and whether it is switched on there. 0 where it should be 1: switch it on at the edge.',
    queries: [
      { expr: `bottomk(50, max by (filer, edge) (${select('filer_fiq_edge_service_enabled')}))`, legend: 'On' },
    ],
    columns: [
      { label: 'edge', title: 'Edge', link: drillDown('appliance', 'filer', `$\{__value.text}`) },
      { label: 'filer', title: 'Served by' },
    ],
    steps: plain,
    width: 12,
    height: 6,
  }),
];
