import type { Family, Table } from '../../../metrics/family.ts';
import { date, flag, plain, presence } from '../../../metrics/units.ts';
import { applianceLabels } from './series.ts';

/** A row of `GET /edges`. The newer fields may be missing, which means unknown and not false. */
export const edgeTable = [
  {
    name: 'filer_appliance_reachable',
    help: '1 when the portal can reach the appliance, else 0.',
    from: flag,
    fields: { is_reachable: {} },
  },
  {
    name: 'filer_appliance_synced',
    help: '1 when the appliance has applied its configuration from the portal, else 0.',
    from: flag,
    fields: { synced: {} },
  },
  {
    name: 'filer_appliance_last_seen_timestamp_seconds',
    help: 'Time of the last contact of the appliance with the portal.',
    from: date,
    fields: { last_seen_at: {} },
  },
  {
    name: 'filer_appliance_service_enabled',
    help: '1 when the service is enabled on the appliance, else 0.',
    from: flag,
    fields: { s3_edge: { service: 's3_edge' }, file_iq: { service: 'file_iq' } },
    optional: true,
  },
] as const satisfies readonly Family[];

/** A row of `GET /serials`, beyond the inventory. */
export const serialTable = [
  {
    name: 'filer_appliance_update_available',
    help: '1 when the portal offers the appliance another build, else 0.',
    from: flag,
    fields: { available_build: {} },
  },
] as const satisfies readonly Family[];

export const edgeDetailTable = [
  {
    name: 'filer_appliance_volumes',
    help: 'Volumes of the appliance, by its role: owner, or connected to another appliance’s volume.',
    from: plain,
    fields: { owned_volumes: { role: 'owner' }, remotely_connected_volumes: { role: 'connected' } },
  },
  {
    name: 'filer_appliance_machine_info',
    help: 'Always 1: the platform of the appliance, as the portal names it.',
    from: presence,
    fields: { machine: {} },
    wordsFrom: { platform: { field: 'platform' } },
    labelsFrom: {
      cpu: 'cpu',
      ram: 'ram',
      cache_disk: 'cache_disk',
      os_disk: 'os_disk',
      cow_disk: 'cow_disk',
      fiq_disk: 'fiq_disk',
      vm_instance_type: 'vm_instance_type',
      vm_region: 'vm_region',
    },
  },
] as const satisfies readonly Family[];

export const edgeTables: readonly Table[] = [
  { source: 'GET /edges', subject: applianceLabels, families: edgeTable },
  { source: 'GET /serials', subject: applianceLabels, families: serialTable },
  { source: 'GET /edges/{edge_id}', subject: applianceLabels, families: edgeDetailTable },
];
