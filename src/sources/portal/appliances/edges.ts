import { type Family, isFields } from '../../../metrics/family.ts';
import { type NoteDrop, type Sample, toSamples } from '../../../metrics/samples.ts';
import type { Task } from '../../../metrics/task.ts';
import { date, flag, plain, presence } from '../../../metrics/units.ts';
import { accountTask, type CollectorRow, type PortalParts } from '../collector-row.ts';
import { fieldsIn, objectOf } from '../records.ts';
import type { Appliance } from './inventory.ts';
import { applianceLabels } from './series.ts';

/** A row of `GET /edges`. The newer fields may be missing, which means unknown and not false. */
const edgeTable = [
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

const serialTable = [
  {
    name: 'filer_appliance_update_available',
    help: '1 when the portal offers the appliance another build, else 0.',
    from: flag,
    fields: { available_build: {} },
  },
] as const satisfies readonly Family[];

const edgeDetailTable = [
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

/** From the lists of each inventory round, and one request for each edge at a long interval for its details. */
export const edges: CollectorRow = {
  name: 'edges',
  intervalMs: 3_600_000,
  tables: [
    { source: 'GET /edges', subject: applianceLabels, families: edgeTable },
    { source: 'GET /serials', subject: applianceLabels, families: serialTable },
    { source: 'GET /edges/{edge_id}', subject: applianceLabels, families: edgeDetailTable },
  ],
  cost: { perAppliance: 1 },
  size: { appliance: 8.4 },
  readout: readRecords,
  create: (parts, intervalMs) => () =>
    parts.appliances.own.flatMap((appliance) => detailTask(parts, intervalMs, appliance)),
};

function readRecords({ serial, name, build, availableBuild, records = {} }: Appliance, note: NoteDrop): Sample[] {
  const subject = { serial, filer: name };
  const samples: Sample[] = [];
  if (records.edge !== undefined) {
    const { s3_edge, file_iq } = fieldsIn(records.edge.services);
    samples.push(...toSamples(edgeTable, [{ ...records.edge, s3_edge, file_iq }], subject, note));
  }
  if (records.serial !== undefined) {
    const isUpdate = availableBuild !== '' && availableBuild !== build;
    samples.push(...toSamples(serialTable, [{ available_build: isUpdate }], subject, note));
  }
  return samples;
}

function detailTask(parts: PortalParts, intervalMs: number, { serial, edgeId, name }: Appliance): readonly Task[] {
  if (edgeId === '') return [];
  const path = `/edges/${encodeURIComponent(edgeId)}`;
  const task = accountTask(parts, intervalMs, 'edge', async (note, signal) => {
    const answer = await parts.client.send({ method: 'GET', path, operation: 'edge' }, signal);
    const detail = objectOf(answer, 'GET /edges/{edge_id}');
    const { owned, remotely_connected } = fieldsIn(detail.volumes);
    const record = {
      owned_volumes: owned,
      remotely_connected_volumes: remotely_connected,
      ...detail,
      ...fieldsIn(detail.machine),
      platform: fieldsIn(detail.build).platform,
      machine: isFields(detail.machine) ? detail.machine : undefined,
    };
    return { samples: toSamples(edgeDetailTable, [record], { serial, filer: name }, note) };
  });
  // A new name makes a new task, which is due at once; samples under the old name are removed.
  return [{ ...task, id: `portal/${serial}/edge/${name}` }];
}
