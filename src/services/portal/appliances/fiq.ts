import type { Family } from '../../../metrics/family.ts';
import { labelValue, type Sample, toSamples } from '../../../metrics/samples.ts';
import { booleanValue, infoOne, listLength } from '../../../metrics/units.ts';
import type { CollectorDefinition } from '../collector-definition.ts';
import { objectOrEmpty, objectsOrEmpty } from '../records.ts';
import { applianceLabels } from './series-families.ts';

const fiqTable = [
  {
    name: 'filer_fiq_appliance_info',
    help: 'Always 1: a file-intelligence appliance and its build.',
    from: infoOne,
    fields: { serial_number: {} },
    fieldLabels: { build: 'build' },
  },
  {
    name: 'filer_fiq_appliance_enabled',
    help: '1 when the file-intelligence appliance is enabled, else 0.',
    from: booleanValue,
    fields: { enabled: {} },
  },
  {
    name: 'filer_fiq_appliance_edges',
    help: 'Edge appliances connected to the file-intelligence appliance.',
    from: listLength,
    fields: { edges: {} },
  },
] as const satisfies readonly Family[];

const fiqEdgeTable = [
  {
    name: 'filer_fiq_edge_service_enabled',
    help: '1 when file intelligence is enabled on the connected edge appliance, else 0.',
    from: booleanValue,
    fields: { fiq_service_enabled: {} },
  },
] as const satisfies readonly Family[];

export const fiq: CollectorDefinition = {
  name: 'fiq',
  intervalMs: 900_000,
  tables: [
    { source: 'GET /fiq_appliances', commonLabels: applianceLabels, families: fiqTable },
    {
      source: 'GET /fiq_appliances, connections.edges',
      commonLabels: [...applianceLabels, 'edge_serial', 'edge'],
      families: fiqEdgeTable,
    },
  ],
  sampleCounts: { account: 15 },
  waitsForInventory: true,
  reads: ({ appliances }) => [
    {
      path: '/fiq_appliances',
      async read({ records, reportDrop }) {
        const nameOf = (serial: string, reportedName: unknown) =>
          appliances.find(serial)?.name ?? (labelValue(reportedName) || serial);
        const samples: Sample[] = [];
        for await (const appliance of records) {
          const serial = labelValue(appliance.serial_number).toLowerCase();
          if (serial === '') {
            reportDrop('record', 'serial_number');
            continue;
          }
          const labels = { serial, filer: nameOf(serial, appliance.description) };
          const { edges } = objectOrEmpty(appliance.connections);
          samples.push(...toSamples(fiqTable, [{ ...appliance, edges }], labels, reportDrop));
          for (const edge of objectsOrEmpty(edges)) {
            const edgeSerial = labelValue(edge.serial_number).toLowerCase();
            const edgeLabels = { ...labels, edge_serial: edgeSerial, edge: nameOf(edgeSerial, edge.description) };
            samples.push(...toSamples(fiqEdgeTable, [edge], edgeLabels, reportDrop));
          }
        }
        return samples;
      },
    },
  ],
};
