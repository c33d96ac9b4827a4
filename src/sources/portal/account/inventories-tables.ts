import type { Family, Table } from '../../../metrics/family.ts';
import { plain, presence, records } from '../../../metrics/units.ts';

const volumeLabels = ['volume_guid', 'volume'] as const;

/** Values of an inventory's status (upstream-api.md 5.6). */
export const INVENTORY_STATUS = {
  field: 'status',
  known: [
    'Not Indexed',
    'Waiting for NDS creation',
    'Waiting for NDS configuration',
    'NDS Ready',
    'Metadata Index in progress',
    'Metadata Index Complete',
    'Full Content Index in progress',
    'Full Content Index Pending',
    'Full Content Index Complete',
    'Incremental Content Index in progress',
    'Incremental Content Index failed',
    'Volume Inventory Expired',
    'Soft Deleted',
    'Indexing Failed',
  ],
} as const;

/** Values of an index's status. */
export const INDEX_STATUS = {
  field: 'status',
  known: ['in_progress', 'complete', 'failed', 'queued_for_deletion'],
} as const;

export const inventoriesByStatus = {
  name: 'filer_indexing_inventories',
  help: 'Volumes with an indexing inventory, by its status.',
  from: records,
  fields: { status: {} },
  wordsFrom: { status: INVENTORY_STATUS },
} as const satisfies Family;

export const indexesByStatus = {
  name: 'filer_indexing_indexes',
  help: 'Volumes with a content index, by its status.',
  from: records,
  fields: { status: {} },
  wordsFrom: { status: INDEX_STATUS },
} as const satisfies Family;

export const inventoryTable = [
  {
    name: 'filer_indexing_inventory_info',
    help: 'Always 1: the indexing inventory of a volume with its location and status.',
    from: presence,
    fields: { volume_guid: {} },
    wordsFrom: { provider: { field: 'provider' }, status: INVENTORY_STATUS },
  },
  {
    name: 'filer_indexing_inventory_files',
    help: 'Files in the indexing inventory of a volume.',
    from: plain,
    fields: { file_count: {} },
    optional: true,
  },
] as const satisfies readonly Family[];

export const indexTable = [
  {
    name: 'filer_indexing_index_info',
    help: 'Always 1: the content index of a volume with its location and status.',
    from: presence,
    fields: { volume_guid: {} },
    wordsFrom: { provider: { field: 'provider' }, status: INDEX_STATUS },
  },
  {
    name: 'filer_indexing_index_files',
    help: 'Files in the content index of a volume.',
    from: plain,
    fields: { file_count: {} },
    optional: true,
  },
] as const satisfies readonly Family[];

export const indexingTables: readonly Table[] = [
  { source: 'GET /ai_activate/inventories', subject: [], families: [inventoriesByStatus] },
  { source: 'GET /ai_activate/inventories', subject: volumeLabels, families: inventoryTable },
  { source: 'GET /ai_activate/indexes', subject: [], families: [indexesByStatus] },
  { source: 'GET /ai_activate/indexes', subject: volumeLabels, families: indexTable },
];
