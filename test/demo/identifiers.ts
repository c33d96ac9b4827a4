import type { MockServices } from '../../src/demo/mock-services.ts';
import { uuidOf } from '../../src/demo/world/waveforms.ts';
import { get, items } from './ask.ts';

/** Where an identifier of a path comes from: a list, and the field of its first item. */
const lists: Readonly<Record<string, readonly [path: string, field: string]>> = {
  record_id: ['/activity-logs/records', 'id'],
  credential_id: ['/cloud-credentials', 'id'],
  edge_id: ['/edges', 'id'],
  file_iq_serial: ['/fiq_appliances', 'serial_number'],
  stack_id: ['/uaas/stacks', 'id'],
  user_id: ['/iam/users', 'id'],
  role_id: ['/iam/roles', 'id'],
  service_key_id: ['/iam/service_keys', 'id'],
  user_key_id: ['/iam/user_keys', 'id'],
  api_key: ['/gfa/api_keys', 'key'],
  job_id: ['/jobs', 'id'],
  serial_id: ['/serials', 'id'],
  serial_number: ['/serials?type=edge', 'id'],
  id: ['/software/downloads', 'id'],
};

/** A path with every identifier in braces replaced by one that there is. */
export async function filled(standIn: MockServices, template: string): Promise<string> {
  let path = template;
  for (const [braces, name = ''] of template.matchAll(/\{(\w+)\}/g))
    path = path.replace(braces, await one(standIn, name));
  return path;
}

async function one(standIn: MockServices, name: string): Promise<string> {
  // These have no list of their own.
  if (name === 'request_id') return uuidOf(1, 'export');
  if (name === 'file_id') return uuidOf(1, 'export file');
  if (name === 'volume_id') return connected(standIn);
  if (name === 'blob_key_id') {
    const keys = await get(standIn, `/uaas/stacks/${await one(standIn, 'stack_id')}/nds/blob-keys`);
    return String(items(keys)[0]?.id);
  }
  const list = lists[name];
  if (list === undefined) throw new Error(`nobody knows where a ${name} comes from`);
  return String(items(await get(standIn, list[0]))[0]?.[list[1]]);
}

/** A volume that the first edge is connected to. */
function connected({ fleet }: MockServices): string {
  const [guid] = fleet.appliances.find(({ kind }) => kind === 'edge')?.volumes ?? [];
  return fleet.volumes.find((volume) => volume.guid === guid)?.portalId ?? '';
}
