import { type Fields, isFields } from '../../../metrics/family.ts';
import { type NoteDrop, type Sample, text, toSamples } from '../../../metrics/samples.ts';
import type { Task } from '../../../metrics/task.ts';
import { accountTask, type CollectorRow, type PortalParts } from '../collector-row.ts';
import { objectOf, optionalItemsOf } from '../records.ts';
import { edgeDetailTable, edgeTable, edgeTables, serialTable } from './edges-tables.ts';
import type { Appliance, ApplianceIndex, InventoryAnswers } from './inventory.ts';

/**
 * The appliances in the portal: from the lists of each inventory round, without requests of its own, and one request
 * for each edge at a long interval for its details.
 */
export const edges: CollectorRow = {
  name: 'edges',
  intervalMs: 3_600_000,
  tables: edgeTables,
  cost: { account: 0, perAppliance: 1, perVolume: 0 },
  size: { appliance: 8.4 },
  readout: readInventoryRound,
  create: (parts, intervalMs) => () =>
    [...parts.appliances.own()].flatMap((appliance) => detailTask(parts, intervalMs, appliance)),
};

function* readInventoryRound(
  answers: InventoryAnswers,
  appliances: ApplianceIndex,
  note: NoteDrop,
): Generator<void, Sample[]> {
  const own = new Map(appliances.own().map((appliance) => [appliance.serial, appliance]));
  const samples: Sample[] = [];
  for (const [record, { serial, name }] of recordsOf(
    answers.edges === undefined ? [] : [answers.edges],
    'serial',
    own,
  )) {
    const { services, ...rest } = record;
    const flat = { ...rest, ...(isFields(services) ? { s3_edge: services.s3_edge, file_iq: services.file_iq } : {}) };
    samples.push(...toSamples(edgeTable, [flat], { serial, filer: name }, note));
    yield;
  }
  for (const [record, { serial, name, build }] of recordsOf(answers.serials ?? [], 'id', own)) {
    const offered = text(record.available_build);
    const isUpdate = offered !== '' && offered !== (build || text(record.build));
    samples.push(...toSamples(serialTable, [{ available_build: isUpdate }], { serial, filer: name }, note));
    yield;
  }
  return samples;
}

/** The records about this instance's appliances, each appliance once; faults in a list were noted when it was read. */
function* recordsOf(
  bodies: readonly unknown[],
  key: string,
  own: ReadonlyMap<string, Appliance>,
): Generator<readonly [Fields, Appliance]> {
  const done = new Set<string>();
  for (const record of bodies.flatMap((body) => optionalItemsOf(body, 'the inventory'))) {
    const serial = isFields(record) ? text(record[key]).toLowerCase() : '';
    const appliance = own.get(serial);
    if (!isFields(record) || appliance === undefined || done.has(serial)) continue;
    done.add(serial);
    yield [record, appliance];
  }
}

function detailTask(parts: PortalParts, intervalMs: number, { serial, edgeId, name }: Appliance): readonly Task[] {
  if (edgeId === '') return [];
  const path = `/edges/${encodeURIComponent(edgeId)}`;
  const task = accountTask(parts, intervalMs, 'edge', async (note, signal) => {
    const detail = objectOf(
      await parts.client.send({ method: 'GET', path, operation: 'edge' }, signal),
      'GET /edges/{edge_id}',
    );
    const { volumes, machine, build } = detail;
    const record = {
      ...(isFields(volumes)
        ? { owned_volumes: volumes.owned, remotely_connected_volumes: volumes.remotely_connected }
        : {}),
      ...detail,
      ...(isFields(machine) ? machine : {}),
      platform: isFields(build) ? build.platform : undefined,
      machine: isFields(machine) ? machine : undefined,
    };
    return toSamples(edgeDetailTable, [record], { serial, filer: name }, note);
  });
  // A new name makes a new task, which is due at once; samples under the old name are removed.
  return [{ ...task, id: `portal/${serial}/edge/${name}` }];
}
