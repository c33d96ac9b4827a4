import type { Family, JsonObject } from '../../../metrics/family.ts';
import { enumLabelValue, labelValue } from '../../../metrics/samples.ts';
import { booleanValue, date, infoOne, listLength, recordOne } from '../../../metrics/units.ts';
import { compareVersions, isVersion } from '../appliances/builds.ts';
import { applianceLabels } from '../appliances/series-families.ts';
import type { CollectorDefinition } from '../context.ts';
import { byId } from '../reads.ts';
import { objectOrEmpty, objectsOrEmpty } from '../records.ts';

/** What an account has besides edges: stacks, file-intelligence appliances, and software to download. */

const stacksByCloud = {
  name: 'filer_stacks',
  help: 'Stacks of the account, by cloud.',
  from: recordOne,
  fields: { id: {} },
  enumLabels: { cloud_provider: { field: 'cloud_provider' } },
} as const satisfies Family;

const stackTable = [
  {
    name: 'filer_stack_info',
    help: 'Always 1: a stack of the account with its location and its builds.',
    from: infoOne,
    fields: { id: {} },
    fieldLabels: {
      serial: 'serial_number',
      region: 'region',
      build: 'build',
      uaas_build: 'uaas_build',
    },
    enumLabels: { cloud_provider: { field: 'cloud_provider' } },
  },
  {
    name: 'filer_stack_created_timestamp_seconds',
    help: 'Creation time of the stack.',
    from: date,
    fields: { created_date: {} },
  },
  {
    name: 'filer_stack_last_used_timestamp_seconds',
    help: 'Time of the last use of the stack; missing if it was never used.',
    from: date,
    fields: { last_used_date: {} },
  },
] as const satisfies readonly Family[];

export const stacks: CollectorDefinition = {
  name: 'stacks',
  intervalMs: 3_600_000,
  reads: [
    {
      path: '/uaas/stacks',
      key: ['id'],
      prepare: (stack) => ({ ...stack, serial_number: labelValue(stack.serial_number).toLowerCase() }),
      sum: [stacksByCloud],
      perObject: [
        {
          families: stackTable,
          labels: ['stack_id', 'stack'],
          of: (records) => byId(records, ['stack_id', 'stack'], { id: 'id', name: 'name' }),
        },
      ],
    },
  ],
};

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

const FIQ_FIELDS = { id: 'serial_number', name: 'description' } as const;
const FIQ_EDGE_LABELS = ['edge_serial', 'edge'] as const;

export const fiq: CollectorDefinition = {
  name: 'fiq',
  intervalMs: 900_000,
  reads: [
    {
      path: '/fiq_appliances',
      key: ['serial_number'],
      prepare: (record) => ({ ...record, edges: objectOrEmpty(record.connections).edges }),
      perObject: [
        {
          families: fiqTable,
          labels: applianceLabels,
          of: (records, { appliances }) => byId(records, applianceLabels, FIQ_FIELDS, appliances.nameOf),
        },
        {
          families: fiqEdgeTable,
          labels: [...applianceLabels, ...FIQ_EDGE_LABELS],
          path: 'connections.edges',
          *of(records, { appliances }) {
            for (const [labels, { edges }] of byId(records, applianceLabels, FIQ_FIELDS, appliances.nameOf)) {
              const connected = byId(objectsOrEmpty(edges), FIQ_EDGE_LABELS, FIQ_FIELDS, appliances.nameOf);
              for (const [edgeLabels, edge] of connected) yield [{ ...labels, ...edgeLabels }, edge];
            }
          },
        },
      ],
    },
  ],
};

const downloads = {
  name: 'filer_software_downloads',
  help: 'Software that the portal offers for download, by type and platform.',
  from: recordOne,
  fields: { display_name: {} },
  enumLabels: { type: { field: 'appliance_type' }, platform: { field: 'platform' } },
} as const satisfies Family;

const newestSoftware = {
  name: 'filer_software_newest_info',
  help: 'Always 1: the newest version that the portal offers, by type.',
  from: infoOne,
  fields: { version: {} },
  fieldLabels: { version: 'version' },
  enumLabels: { type: { field: 'appliance_type' } },
} as const satisfies Family;

export const software: CollectorDefinition = {
  name: 'software',
  intervalMs: 3_600_000,
  reads: [
    {
      path: '/software/downloads',
      key: ['appliance_type', 'platform', 'display_name', 'version', 'id'],
      sum: [downloads],
      perObject: [{ families: [newestSoftware], labels: [], of: newestOfEachType }],
    },
  ],
};

/** The record with the newest version of each type; a record without a readable version is left out. */
function* newestOfEachType(records: readonly JsonObject[]): Generator<readonly [Record<string, never>, JsonObject]> {
  const newest = new Map<string, JsonObject>();
  for (const record of records) {
    const type = enumLabelValue(record.appliance_type);
    const version = labelValue(record.version);
    const known = labelValue(newest.get(type)?.version);
    if (isVersion(version) && compareVersions(version, known) > 0) newest.set(type, record);
  }
  for (const record of newest.values()) yield [{}, record];
}
