import { isFields } from '../../../metrics/family.ts';
import { type NoteDrop, type Sample, text, toSamples } from '../../../metrics/samples.ts';
import { accountTasks, afterInventory, type CollectorRow } from '../collector-row.ts';
import { listed } from '../records.ts';
import { fiqEdgeTable, fiqTable, fiqTables } from './fiq-tables.ts';

/** The file-intelligence appliances and their connected edges. */
export const fiq: CollectorRow = {
  name: 'fiq',
  intervalMs: 900_000,
  tables: fiqTables,
  cost: { account: 1, perAppliance: 0, perVolume: 0 },
  size: { account: 15 },
  create: (parts, intervalMs) =>
    afterInventory(
      parts,
      accountTasks(parts, intervalMs, [
        {
          operation: 'fiq_appliances',
          path: '/fiq_appliances',
          read: (body, note) => readAppliances(body, (id) => parts.appliances.find(id)?.name, note),
        },
      ]),
    ),
};

function* readAppliances(
  body: unknown,
  nameOf: (serial: string) => string | undefined,
  note: NoteDrop,
): Generator<void, Sample[]> {
  const samples: Sample[] = [];
  for (const appliance of listed(body, 'GET /fiq_appliances', note)) {
    const serial = text(appliance.serial_number).toLowerCase();
    if (serial === '') {
      note('record', 'serial_number');
      continue;
    }
    const subject = { serial, filer: nameOf(serial) ?? (text(appliance.description) || serial) };
    const edges = isFields(appliance.connections) ? appliance.connections.edges : undefined;
    samples.push(...toSamples(fiqTable, [{ ...appliance, edges }], subject, note));
    for (const edge of Array.isArray(edges) ? edges.filter(isFields) : []) {
      const edgeSerial = text(edge.serial_number).toLowerCase();
      const name = nameOf(edgeSerial) ?? (text(edge.description) || edgeSerial);
      samples.push(...toSamples(fiqEdgeTable, [edge], { ...subject, edge_serial: edgeSerial, edge: name }, note));
      yield;
    }
    yield;
  }
  return samples;
}
