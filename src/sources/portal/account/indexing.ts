import { type Family, type Fields, OTHER } from '../../../metrics/family.ts';
import { Tally } from '../../../metrics/label-counter.ts';
import { type NoteDrop, type Sample, text, toSamples, wordOf } from '../../../metrics/samples.ts';
import { type AccountRead, accountTasks, type CollectorRow } from '../collector-row.ts';
import { listed } from '../records.ts';
import { volumeGuids } from '../volumes/volume-guid.ts';
import {
  INDEX_STATUS,
  INVENTORY_STATUS,
  indexesByStatus,
  indexingTables,
  indexTable,
  inventoriesByStatus,
  inventoryTable,
} from './inventories-tables.ts';

/** The progress of content indexing, by volume. */
export const indexing: CollectorRow = {
  name: 'indexing',
  intervalMs: 900_000,
  tables: indexingTables,
  cost: { account: 2, perAppliance: 0, perVolume: 0 },
  size: { account: 34 },
  create: (parts, intervalMs) =>
    accountTasks(parts, intervalMs, [
      readOf('inventories', INVENTORY_STATUS.known.map(wordOf), inventoriesByStatus, inventoryTable),
      readOf('indexes', INDEX_STATUS.known.map(wordOf), indexesByStatus, indexTable),
    ]),
};

function readOf(segment: string, known: readonly string[], byStatus: Family, table: readonly Family[]): AccountRead {
  const path = `/ai_activate/${segment}`;
  return {
    operation: `ai_activate_${segment}`,
    path,
    read: (body, note) => readVolumes(listed(body, `GET ${path}`, note), known, byStatus, table, note),
  };
}

function* readVolumes(
  records: Iterable<Fields>,
  known: readonly string[],
  byStatus: Family,
  table: readonly Family[],
  note: NoteDrop,
): Generator<void, Sample[]> {
  const all = [...records];
  const guidOf = volumeGuids(all.map(({ volume_guid }) => text(volume_guid)));
  const count = new Tally([{ name: 'status', known }]);
  for (const status of [...known, OTHER]) count.add([status], 0);
  const samples: Sample[] = [];
  for (const record of all) {
    count.add([wordOf(record.status)]);
    const guid = guidOf(text(record.volume_guid));
    const subject = { volume_guid: guid, volume: text(record.volume_name) || guid };
    if (guid === '') note('record', 'volume_guid');
    else samples.push(...toSamples(table, [record], subject, note));
    yield;
  }
  return [...count.samples(byStatus.name), ...samples];
}
