import type { Family, JsonObject } from '../../../metrics/family.ts';
import { booleanValue, infoOne, listLength } from '../../../metrics/units.ts';
import type { CollectorDefinition } from '../collector-definition.ts';
import type { PortalContext } from '../context.ts';
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

const appliance = {
  id: 'serial_number',
  name: 'description',
  knownName: (serial: string, { appliances }: PortalContext) => appliances.find(serial)?.name,
};

export const fiq: CollectorDefinition = {
  name: 'fiq',
  intervalMs: 900_000,
  waitsForInventory: true,
  reads: [
    {
      path: '/fiq_appliances',
      rows: {
        each: {
          ...appliance,
          families: fiqTable,
          labels: applianceLabels,
          prepare: (record) => ({ ...record, edges: edgesOf(record) }),
          parts: {
            ...appliance,
            path: 'connections.edges',
            of: (record) => objectsOrEmpty(edgesOf(record)),
            families: fiqEdgeTable,
            labels: ['edge_serial', 'edge'],
          },
        },
      },
    },
  ],
};

function edgesOf({ connections }: JsonObject): unknown {
  return objectOrEmpty(connections).edges;
}
