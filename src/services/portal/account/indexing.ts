import type { Family } from '../../../metrics/family.ts';
import { LabelledCounter } from '../../../metrics/labelled-counter.ts';
import { labelValue, type Sample, toSamples } from '../../../metrics/samples.ts';
import { infoOne, recordOne, unitless } from '../../../metrics/units.ts';
import { iterateInSlices } from '../../../runtime/slices.ts';
import type { AccountRead, CollectorDefinition, PortalContext } from '../collector-definition.ts';
import { collectAll } from '../records.ts';
import { volumeGuids } from '../volumes/volume-guid.ts';

const volumeLabels = ['volume_guid', 'volume'] as const;

const INVENTORY_STATUS = {
  field: 'status',
  documentedValues: [
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
  documentedValues: ['in_progress', 'complete', 'failed', 'queued_for_deletion'],
} as const;

const inventoriesByStatus = {
  name: 'filer_indexing_inventories',
  help: 'Volumes with an indexing inventory, by its status.',
  from: recordOne,
  fields: { status: {} },
  enumLabels: { status: INVENTORY_STATUS },
} as const satisfies Family;

const indexesByStatus = {
  name: 'filer_indexing_indexes',
  help: 'Volumes with a content index, by its status.',
  from: recordOne,
  fields: { status: {} },
  enumLabels: { status: INDEX_STATUS },
} as const satisfies Family;

const inventoryTable = [
  {
    name: 'filer_indexing_inventory_info',
    help: 'Always 1: the indexing inventory of a volume with its location and status.',
    from: infoOne,
    fields: { volume_guid: {} },
    enumLabels: { provider: { field: 'provider' }, status: INVENTORY_STATUS },
  },
  {
    name: 'filer_indexing_inventory_files',
    help: 'Files in the indexing inventory of a volume.',
    from: unitless,
    fields: { file_count: {} },
    optional: true,
  },
] as const satisfies readonly Family[];

const indexTable = [
  {
    name: 'filer_indexing_index_info',
    help: 'Always 1: the content index of a volume with its location and status.',
    from: infoOne,
    fields: { volume_guid: {} },
    enumLabels: { provider: { field: 'provider' }, status: INDEX_STATUS },
  },
  {
    name: 'filer_indexing_index_files',
    help: 'Files in the content index of a volume.',
    from: unitless,
    fields: { file_count: {} },
    optional: true,
  },
] as const satisfies readonly Family[];

export const indexing: CollectorDefinition = {
  name: 'indexing',
  intervalMs: 900_000,
  tables: [
    { source: 'GET /ai_activate/inventories', commonLabels: [], families: [inventoriesByStatus] },
    { source: 'GET /ai_activate/inventories', commonLabels: volumeLabels, families: inventoryTable },
    { source: 'GET /ai_activate/indexes', commonLabels: [], families: [indexesByStatus] },
    { source: 'GET /ai_activate/indexes', commonLabels: volumeLabels, families: indexTable },
  ],
  requestsPerCycle: { account: 2 },
  sampleCounts: { account: 34 },
  reads: (context) => [
    createRead(context, 'inventories', inventoriesByStatus, inventoryTable),
    createRead(context, 'indexes', indexesByStatus, indexTable),
  ],
};

function createRead(
  { clock }: PortalContext,
  segment: string,
  byStatus: Family,
  table: readonly Family[],
): AccountRead {
  return {
    path: `/ai_activate/${segment}`,
    async read({ records, reportDrop }) {
      const allRecords = await collectAll(records);
      const guidOf = volumeGuids(allRecords.map(({ volume_guid }) => labelValue(volume_guid)));
      const count = new LabelledCounter(byStatus);
      const samples: Sample[] = [];
      for await (const record of iterateInSlices(allRecords, clock)) {
        count.add(record);
        const guid = guidOf(labelValue(record.volume_guid));
        const labels = { volume_guid: guid, volume: labelValue(record.volume_name) || guid };
        if (guid === '') reportDrop('record', 'volume_guid');
        else samples.push(...toSamples(table, [record], labels, reportDrop));
      }
      return [...count.samples(), ...samples];
    },
  };
}
