import { chart } from '../charts.ts';
import { limits } from '../limits.ts';
import { LABELS_ALONE, number, table } from '../numbers.ts';
import { drillDown } from '../places.ts';
import { select } from '../select.ts';
import { plain } from '../steps.ts';

const inventory = `topk(50, max by (volume) (${select('filer_indexing_inventory_files')}))`;

/** The index over the files, by volume. */
export const indexPanels = [
  chart({
    title: 'Files indexed and allowed',
    description:
      'Indexed files, files that may still be indexed, and the limit. When the rest nears zero, exclude volumes or extend the subscription; a negative rest is above the limit.',
    queries: [
      { expr: `max(${select('filer_indexing_consumed_files')})`, legend: 'indexed' },
      { expr: `max(${select('filer_indexing_remaining_files')})`, legend: 'left' },
      { expr: `max(${select('filer_indexing_limit_files')})`, legend: 'allowed' },
    ],
    steps: plain,
    width: 8,
  }),
  number({
    title: 'Volumes by state of their index',
    description:
      'Inventories and content indexes by status. Failed ones are not searched any more: start them again in the portal.',
    queries: [
      { expr: `max by (status) (${select('filer_indexing_inventories')} > 0)`, legend: 'inventory: {{status}}' },
      { expr: `max by (status) (${select('filer_indexing_indexes')} > 0)`, legend: 'index: {{status}}' },
    ],
    steps: plain,
    width: 8,
    height: 8,
  }),
  table({
    title: 'Indexes by volume',
    description:
      'Files in the inventory and in the content index of volumes, the fifty largest. An index far behind its inventory is in progress or stuck: see its state.',
    queries: [
      { expr: inventory, legend: 'Inventory' },
      {
        expr: `max by (volume) (${select('filer_indexing_index_files')}) and on (volume) ${inventory}`,
        legend: 'Index',
      },
    ],
    columns: [{ label: 'volume', title: 'Volume', link: drillDown('snapshots', 'volume', `$\{__value.text}`) }],
    steps: plain,
    width: 8,
  }),
  table({
    title: 'Inventories',
    description: 'Location and status of the inventory of each volume. Start failed ones again.',
    queries: [
      {
        expr: `topk(50, max by (volume, provider, status) (${select('filer_indexing_inventory_info')}))`,
        legend: LABELS_ALONE,
      },
    ],
    columns: [
      { label: 'volume', title: 'Volume' },
      { label: 'provider', title: 'Cloud' },
      { label: 'status', title: 'Status' },
    ],
    steps: plain,
    width: 12,
    height: 6,
  }),
  table({
    title: 'Content indexes',
    description: 'Location and status of the content index of each volume. Start failed ones again in the portal.',
    queries: [
      {
        expr: `topk(50, max by (volume, provider, status) (${select('filer_indexing_index_info')}))`,
        legend: LABELS_ALONE,
      },
    ],
    columns: [
      { label: 'volume', title: 'Volume' },
      { label: 'provider', title: 'Cloud' },
      { label: 'status', title: 'Status' },
    ],
    steps: plain,
    width: 12,
    height: 6,
  }),
];

const made = `topk(30, time() - max by (stack) (${select('filer_stack_created_timestamp_seconds')}))`;
const ofMade = (query: string) => `${query} and on (stack) ${made}`;

/** Stacks, and software to be had. */
export const softwarePanels = [
  number({
    title: 'Stacks',
    description: 'Stacks of the account by cloud. If the number changes without a change of yours, find the cause.',
    queries: [{ expr: `max by (cloud_provider) (${select('filer_stacks')})`, legend: '{{cloud_provider}}' }],
    steps: plain,
    width: 4,
    height: 6,
  }),
  table({
    title: 'Stacks and their use',
    description: 'Location, age and last use of each stack. Remove unused stacks: they cost money.',
    queries: [
      {
        expr: made,
        legend: 'Made',
      },
      {
        expr: ofMade(`time() - max by (stack) (${select('filer_stack_last_used_timestamp_seconds')})`),
        legend: 'Last used',
      },
      {
        expr: `topk(50, ${ofMade(`max by (stack, cloud_provider, region, build) (${select('filer_stack_info')})`)})`,
        legend: LABELS_ALONE,
      },
    ],
    columns: [
      { label: 'stack', title: 'Stack' },
      { label: 'cloud_provider', title: 'Cloud' },
      { label: 'region', title: 'Region' },
      { label: 'build', title: 'Build' },
    ],
    steps: limits.keyAge,
    width: 20,
    height: 6,
  }),
  table({
    title: 'Newest software',
    description:
      'The newest version that the portal offers, by type. Compare with the builds of the fleet, and plan the update of those behind.',
    queries: [
      { expr: `topk(50, max by (type, version) (${select('filer_software_newest_info')}))`, legend: LABELS_ALONE },
    ],
    columns: [
      { label: 'type', title: 'Type' },
      { label: 'version', title: 'Version' },
    ],
    steps: plain,
    width: 12,
    height: 6,
  }),
  table({
    title: 'Downloads',
    description:
      'How much software the portal offers, by type and platform. A platform that vanishes is no longer supported: plan to move away from it.',
    queries: [{ expr: `topk(50, max by (type, platform) (${select('filer_software_downloads')}))`, legend: 'Offered' }],
    columns: [
      { label: 'type', title: 'Type' },
      { label: 'platform', title: 'Platform' },
    ],
    steps: plain,
    width: 12,
    height: 6,
  }),
];
