import type { Family } from '../../../metrics/family.ts';
import { type Sample, text, toSamples } from '../../../metrics/samples.ts';
import { flag, listLength, presence } from '../../../metrics/units.ts';
import type { CollectorRow } from '../collector-row.ts';
import { fieldsIn, recordsIn } from '../records.ts';
import { applianceLabels } from './series.ts';

const fiqTable = [
  {
    name: 'filer_fiq_appliance_info',
    help: 'Always 1: a file-intelligence appliance and its build.',
    from: presence,
    fields: { serial_number: {} },
    labelsFrom: { build: 'build' },
  },
  {
    name: 'filer_fiq_appliance_enabled',
    help: '1 when the file-intelligence appliance is enabled, else 0.',
    from: flag,
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
    from: flag,
    fields: { fiq_service_enabled: {} },
  },
] as const satisfies readonly Family[];

export const fiq: CollectorRow = {
  name: 'fiq',
  intervalMs: 900_000,
  tables: [
    { source: 'GET /fiq_appliances', subject: applianceLabels, families: fiqTable },
    {
      source: 'GET /fiq_appliances, connections.edges',
      subject: [...applianceLabels, 'edge_serial', 'edge'],
      families: fiqEdgeTable,
    },
  ],
  size: { account: 15 },
  namesAppliances: true,
  reads: ({ appliances }) => [
    {
      path: '/fiq_appliances',
      async read({ records, note }) {
        const nameOf = (serial: string, told: unknown) => appliances.find(serial)?.name ?? (text(told) || serial);
        const samples: Sample[] = [];
        for await (const appliance of records) {
          const serial = text(appliance.serial_number).toLowerCase();
          if (serial === '') {
            note('record', 'serial_number');
            continue;
          }
          const subject = { serial, filer: nameOf(serial, appliance.description) };
          const { edges } = fieldsIn(appliance.connections);
          samples.push(...toSamples(fiqTable, [{ ...appliance, edges }], subject, note));
          for (const edge of recordsIn(edges)) {
            const edgeSerial = text(edge.serial_number).toLowerCase();
            const labels = { ...subject, edge_serial: edgeSerial, edge: nameOf(edgeSerial, edge.description) };
            samples.push(...toSamples(fiqEdgeTable, [edge], labels, note));
          }
        }
        return samples;
      },
    },
  ],
};
