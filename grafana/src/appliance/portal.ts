import { words } from '../mappings.ts';
import { LABELS_ALONE, number, table } from '../numbers.ts';
import { more } from '../places.ts';
import { select } from '../select.ts';
import { noneExpected, oneIsGood } from '../steps.ts';

const least = (gauge: string) => `min by (filer) (${select(gauge)})`;
const yesOrNo = words([1, 'yes'], [0, 'no']);

/** Shows what the portal knows of the appliance in addition to its telemetry. */
export const portalPanels = [
  number(
    {
      title: 'Reached by the portal',
      description:
        'Whether the portal can reach the appliance. If it cannot, settings and updates do not arrive: check the connection and the firewall.',
      queries: { expr: least('filer_appliance_reachable'), legend: '{{filer}}' },
      steps: oneIsGood,
      width: 6,
    },
    yesOrNo,
  ),
  number(
    {
      title: 'Synced',
      description:
        'Whether the appliance is synced: it has applied the settings of the portal. If it is not synced for a while, see the jobs of the account.',
      queries: { expr: least('filer_appliance_synced'), legend: '{{filer}}' },
      steps: oneIsGood,
      width: 6,
      links: [more('account')],
    },
    yesOrNo,
  ),
  number(
    {
      title: 'Update waiting',
      description: 'Whether the portal offers the appliance another build. Plan the update for off-peak hours.',
      queries: { expr: `max by (filer) (${select('filer_appliance_update_available')})`, legend: '{{filer}}' },
      steps: noneExpected,
      width: 6,
    },
    words([1, 'offered'], [0, 'none']),
  ),
  number(
    {
      title: 'Newest software',
      description:
        'Whether the appliance runs the newest version that the portal offers for its type. If not, read the release notes and plan.',
      queries: { expr: `max by (filer) (${select('filer_appliance_software_outdated')})`, legend: '{{filer}}' },
      steps: noneExpected,
      width: 6,
    },
    words([1, 'older'], [0, 'newest']),
  ),
  table({
    title: 'The machine',
    description:
      'The platform of the appliance, as the portal names it. Before an update, compare with the requirements of the new build.',
    queries: {
      expr: `topk(10, max by (filer, platform, cpu, ram, cache_disk, cow_disk, fiq_disk, vm_instance_type, vm_region) (${select('filer_appliance_machine_info')}))`,
      legend: LABELS_ALONE,
    },
    columns: [
      { label: 'filer', title: 'Appliance' },
      { label: 'platform', title: 'Platform' },
      { label: 'cpu', title: 'Processors' },
      { label: 'ram', title: 'Memory' },
      { label: 'cache_disk', title: 'Cache disk' },
      { label: 'cow_disk', title: 'Snapshot disk' },
      { label: 'fiq_disk', title: 'Index disk' },
      { label: 'vm_instance_type', title: 'Instance' },
      { label: 'vm_region', title: 'Region' },
    ],
    width: 24,
    height: 5,
  }),
];
