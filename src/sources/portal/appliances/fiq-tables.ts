import type { Family, Table } from '../../../metrics/family.ts';
import { flag, listLength, presence } from '../../../metrics/units.ts';
import { applianceLabels } from './series.ts';

export const fiqTable = [
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

export const fiqEdgeTable = [
  {
    name: 'filer_fiq_edge_service_enabled',
    help: '1 when file intelligence is enabled on the connected edge appliance, else 0.',
    from: flag,
    fields: { fiq_service_enabled: {} },
  },
] as const satisfies readonly Family[];

export const fiqTables: readonly Table[] = [
  { source: 'GET /fiq_appliances', subject: applianceLabels, families: fiqTable },
  {
    source: 'GET /fiq_appliances, connections.edges',
    subject: [...applianceLabels, 'edge_serial', 'edge'],
    families: fiqEdgeTable,
  },
];
