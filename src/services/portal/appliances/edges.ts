import type { Task } from '../../../contract/task.ts';
import { type Family, isJsonObject, type JsonObject } from '../../../metrics/family.ts';
import { labelValue, type ReportDrop, type Sample, toSamples } from '../../../metrics/samples.ts';
import { anyTime, booleanValue, date, infoOne, unitless } from '../../../metrics/units.ts';
import type { CollectorDefinition, PortalContext, TaskSettings } from '../context.ts';
import { accountTask } from '../reads.ts';
import { objectOrEmpty, requireObject } from '../records.ts';
import type { Appliance } from './inventory.ts';
import { applianceLabels } from './series-families.ts';

/** The families of `GET /edges`. A missing field is unknown, not false. */
const edgeTable = [
  {
    name: 'filer_appliance_reachable',
    help: '1 when the portal can reach the appliance, else 0.',
    from: booleanValue,
    fields: { is_reachable: {} },
  },
  {
    name: 'filer_appliance_synced',
    help: '1 when the appliance has applied its configuration from the portal, else 0.',
    from: booleanValue,
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
    from: booleanValue,
    fields: { s3_edge: { service: 's3_edge' }, file_iq: { service: 'file_iq' } },
  },
] as const satisfies readonly Family[];

const serialTable = [
  {
    name: 'filer_appliance_update_available',
    help: '1 when the portal offers the appliance another build, else 0.',
    from: booleanValue,
    fields: { available_build: {} },
  },
  {
    name: 'filer_appliance_config_backup_timestamp_seconds',
    help: 'Time of the last backup of the appliance’s configuration, as the portal reports it.',
    from: anyTime,
    fields: { last_config_backup_date: {} },
  },
] as const satisfies readonly Family[];

const edgeDetailTable = [
  {
    name: 'filer_appliance_location_info',
    help: 'Always 1: where the appliance is, as the portal describes it.',
    from: infoOne,
    fields: { location: {} },
    fieldLabels: { location: 'location' },
  },
  {
    name: 'filer_appliance_volumes',
    help: 'Volumes of the appliance, by its role: owner, or connected to another appliance’s volume.',
    from: unitless,
    fields: { owned_volumes: { role: 'owner' }, remotely_connected_volumes: { role: 'connected' } },
  },
  {
    name: 'filer_appliance_machine_info',
    help: 'Always 1: the platform of the appliance, as the portal names it.',
    from: infoOne,
    fields: { machine: {} },
    enumLabels: { platform: { field: 'platform' } },
    fieldLabels: {
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

/** Edges: samples from the lists of each inventory poll, and from one request for the details of each edge, at a long interval. */
export const edges: CollectorDefinition = {
  name: 'edges',
  intervalMs: 3_600_000,
  tables: [
    { source: 'GET /edges', commonLabels: applianceLabels, families: edgeTable },
    { source: 'GET /serials', commonLabels: applianceLabels, families: serialTable },
    { source: 'GET /edges/{edge_id}', commonLabels: applianceLabels, families: edgeDetailTable },
  ],
  requestsPerCycle: { perAppliance: 1 },
  create: (context, settings) => () => context.appliances.polled.flatMap((edge) => detailTask(context, settings, edge)),
};

/** The samples of an appliance's record in `GET /edges`. */
export function edgeSamples({ serial, name }: Appliance, record: JsonObject, reportDrop: ReportDrop): Sample[] {
  const { s3_edge, file_iq } = objectOrEmpty(record.services);
  return toSamples(edgeTable, [{ ...record, s3_edge, file_iq }], { serial, filer: name }, reportDrop);
}

/** The samples of an appliance's record in `GET /serials`. */
export function serialSamples(
  { serial, name, build, availableBuild }: Appliance,
  record: JsonObject,
  reportDrop: ReportDrop,
): Sample[] {
  const available_build = availableBuild !== '' && availableBuild !== build;
  return toSamples(serialTable, [{ ...record, available_build }], { serial, filer: name }, reportDrop);
}

function detailTask(
  context: PortalContext,
  settings: TaskSettings,
  { serial, edgeId, name }: Appliance,
): readonly Task[] {
  if (edgeId === '') return [];
  const path = `/edges/${encodeURIComponent(edgeId)}`;
  const task = accountTask(context, settings, 'edge', async (reportDrop, signal) => {
    const read = (body: unknown) => requireObject(body, 'GET /edges/{edge_id}');
    const detail = await context.client.send({ method: 'GET', path, operation: 'edge', read }, signal);
    const { owned, remotely_connected } = objectOrEmpty(detail.volumes);
    const record = {
      owned_volumes: owned,
      remotely_connected_volumes: remotely_connected,
      ...detail,
      ...objectOrEmpty(detail.machine),
      platform: objectOrEmpty(detail.build).platform,
      machine: isJsonObject(detail.machine) ? detail.machine : undefined,
      location: labelValue(detail.location) || undefined,
    };
    return { samples: toSamples(edgeDetailTable, [record], { serial, filer: name }, reportDrop) };
  });
  return [{ ...task, id: `portal/${serial}/edge`, names: name }];
}
