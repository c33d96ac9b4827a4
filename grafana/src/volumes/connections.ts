import { chart } from '../charts.ts';
import { once } from '../common.ts';
import { LABELS_ALONE, number, table } from '../numbers.ts';
import { drillDown } from '../places.ts';
import { select } from '../select.ts';
import { worst } from '../worst.ts';

const connections = (gauge: string) => `max by (serial, volume_guid) (${select(gauge)})`;

/** How appliances are connected to volumes. */
export const connectionPanels = [
  table({
    title: 'How appliances are connected',
    description:
      'How appliances are connected to volumes, and where a volume is kept: fifty; choose a filer or volume for others. If policies differ between the appliances of one volume, find out why.',
    queries: {
      expr: `topk(50, max by (volume, filer, role, cloud_provider, cloud_region, protocols, security_mode, permission_policy, connection_permission) (${select('filer_volume_connection_info')}))`,
      legend: LABELS_ALONE,
    },
    columns: [
      { label: 'volume', title: 'Volume', minWidth: 123, link: drillDown('volumes', 'volume', `$\{__value.text}`) },
      { label: 'filer', title: 'Appliance', width: 130, link: drillDown('appliance', 'filer', `$\{__value.text}`) },
      { label: 'role', title: 'Role', width: 90 },
      { label: 'cloud_provider', title: 'Cloud', width: 85 },
      { label: 'cloud_region', title: 'Region', width: 110 },
      { label: 'protocols', title: 'Protocols', width: 90 },
      { label: 'security_mode', title: 'Security', width: 135 },
      { label: 'permission_policy', title: 'Permissions', width: 225 },
      { label: 'connection_permission', title: 'Connection', width: 96 },
    ],
    width: 24,
  }),
  chart({
    title: 'Accessible data, the largest volumes',
    ofAll: true,
    description:
      'Data of the volume that can be reached, as the appliance with the most reports it. If it falls suddenly, somebody deleted data: restore it from a snapshot before that is removed.',
    queries: { expr: worst(10, `max by (volume) (${select('filer_volume_accessible_bytes')})`), legend: '{{volume}}' },
    width: 8,
    drill: [drillDown('volumes', 'volume')],
  }),
  chart({
    title: 'Shares and exports',
    ofAll: true,
    description:
      'Shares of volumes on appliances, by protocol. If a number falls without a change of yours, users have lost a share: see the jobs of the account.',
    queries: { expr: `sum by (protocol) (${once(select('filer_volume_shares'))})`, legend: '{{protocol}}' },
    width: 6,
  }),
  chart({
    title: 'Folders kept in the cache',
    ofAll: true,
    description:
      'Folders that are pinned in the cache, or cached automatically. Many pinned folders leave little room for other data: compare with the hit ratio.',
    queries: { expr: `sum by (setting) (${once(select('filer_volume_cached_folders'))})`, legend: '{{setting}}' },
    width: 6,
  }),
  number({
    title: 'Connections',
    description:
      'Volumes on appliances, each counted once, and those through which the appliance may only read. If a number falls without a change of yours, an appliance lost a volume: see the jobs of the account.',
    queries: [
      { expr: `count(${connections('filer_volume_unprotected_bytes')})`, legend: 'all' },
      { expr: `sum(${connections('filer_volume_read_only')})`, legend: 'read-only' },
    ],
    width: 4,
    height: 9,
  }),
];
