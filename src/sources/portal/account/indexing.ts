import type { Family } from '../../../metrics/family.ts';
import { type Sample, text, toSamples } from '../../../metrics/samples.ts';
import { Tally } from '../../../metrics/tally.ts';
import { plain, presence, records } from '../../../metrics/units.ts';
import { inTurns } from '../../../runtime/slices.ts';
import type { AccountRead, CollectorRow, PortalParts } from '../collector-row.ts';
import { allOf } from '../records.ts';
import { volumeGuids } from '../volumes/volume-guid.ts';

const volumeLabels = ['volume_guid', 'volume'] as const;

const INVENTORY_STATUS = {
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

const INDEX_STATUS = {
  field: 'status',
  known: ['in_progress', 'complete', 'failed', 'queued_for_deletion'],
} as const;

const inventoriesByStatus = {
  name: 'filer_indexing_inventories',
  help: 'Volumes with an indexing inventory, by its status.',
  from: records,
  fields: { status: {} },
  wordsFrom: { status: INVENTORY_STATUS },
} as const satisfies Family;

const indexesByStatus = {
  name: 'filer_indexing_indexes',
  help: 'Volumes with a content index, by its status.',
  from: records,
  fields: { status: {} },
  wordsFrom: { status: INDEX_STATUS },
} as const satisfies Family;

const inventoryTable = [
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

const indexTable = [
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

export const indexing: CollectorRow = {
  name: 'indexing',
  intervalMs: 900_000,
  tables: [
    { source: 'GET /ai_activate/inventories', subject: [], families: [inventoriesByStatus] },
    { source: 'GET /ai_activate/inventories', subject: volumeLabels, families: inventoryTable },
    { source: 'GET /ai_activate/indexes', subject: [], families: [indexesByStatus] },
    { source: 'GET /ai_activate/indexes', subject: volumeLabels, families: indexTable },
  ],
  cost: { account: 2 },
  size: { account: 34 },
  reads: (parts) => [
    readOf(parts, 'inventories', inventoriesByStatus, inventoryTable),
    readOf(parts, 'indexes', indexesByStatus, indexTable),
  ],
};

function readOf({ clock }: PortalParts, segment: string, byStatus: Family, table: readonly Family[]): AccountRead {
  return {
    path: `/ai_activate/${segment}`,
    async read({ records, note }) {
      const all = await allOf(records);
      const guidOf = volumeGuids(all.map(({ volume_guid }) => text(volume_guid)));
      const count = new Tally(byStatus);
      const samples: Sample[] = [];
      for await (const record of inTurns(all, clock)) {
        count.add(record);
        const guid = guidOf(text(record.volume_guid));
        const subject = { volume_guid: guid, volume: text(record.volume_name) || guid };
        if (guid === '') note('record', 'volume_guid');
        else samples.push(...toSamples(table, [record], subject, note));
      }
      return [...count.samples(), ...samples];
    },
  };
}
