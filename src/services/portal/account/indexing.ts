import type { Family } from '../../../metrics/family.ts';
import { labelValue } from '../../../metrics/samples.ts';
import { infoOne, recordOne, unitless } from '../../../metrics/units.ts';
import type { CollectorDefinition } from '../context.ts';
import type { ObjectFamilies } from '../reads.ts';
import { volumeGuids } from '../volumes/connections.ts';

const STATUS = { field: 'status' } as const;

const inventoriesByStatus = {
  name: 'filer_indexing_inventories',
  help: 'Volumes with an indexing inventory, by its status.',
  from: recordOne,
  fields: { status: {} },
  enumLabels: { status: STATUS },
} as const satisfies Family;

const inventoryTable = [
  {
    name: 'filer_indexing_inventory_info',
    help: 'Always 1: the indexing inventory of a volume with its location and status.',
    from: infoOne,
    fields: { volume_guid: {} },
    enumLabels: { provider: { field: 'provider' }, status: STATUS },
  },
  {
    name: 'filer_indexing_inventory_files',
    help: 'Files in the indexing inventory of a volume.',
    from: unitless,
    fields: { file_count: {} },
  },
] as const satisfies readonly Family[];

const indexesByStatus = {
  name: 'filer_indexing_indexes',
  help: 'Volumes with a content index, by its status.',
  from: recordOne,
  fields: { status: {} },
  enumLabels: { status: STATUS },
} as const satisfies Family;

const indexTable = [
  {
    name: 'filer_indexing_index_info',
    help: 'Always 1: the content index of a volume with its location and status.',
    from: infoOne,
    fields: { volume_guid: {} },
    enumLabels: { provider: { field: 'provider' }, status: STATUS },
  },
  {
    name: 'filer_indexing_index_files',
    help: 'Files in the content index of a volume.',
    from: unitless,
    fields: { file_count: {} },
  },
] as const satisfies readonly Family[];

export const indexing: CollectorDefinition = {
  name: 'indexing',
  intervalMs: 900_000,
  reads: [
    {
      path: '/ai_activate/inventories',
      key: ['volume_guid'],
      sum: [inventoriesByStatus],
      perObject: [volumesWith(inventoryTable)],
    },
    {
      path: '/ai_activate/indexes',
      key: ['volume_guid'],
      sum: [indexesByStatus],
      perObject: [volumesWith(indexTable)],
    },
  ],
};

function volumesWith(families: readonly Family[]): ObjectFamilies {
  return {
    families,
    labels: ['volume_guid', 'volume'],
    *of(records) {
      const guidOf = volumeGuids(records.map(({ volume_guid }) => labelValue(volume_guid)));
      for (const record of records) {
        const guid = guidOf(labelValue(record.volume_guid));
        yield [{ volume_guid: guid, volume: labelValue(record.volume_name) || guid }, record];
      }
    },
  };
}
