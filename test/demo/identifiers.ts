import type { MockServices } from '../../src/demo/mock-services.ts';
import { get, items } from './ask.ts';

/** Where an identifier of a path comes from: a list, and the field of its first item. */
const lists: Readonly<Record<string, readonly [path: string, field: string]>> = {
  edge_id: ['/edges', 'id'],
  api_key: ['/gfa/api_keys', 'key'],
  serial_number: ['/serials?type=edge', 'id'],
};

/** A path with every identifier in braces replaced by one that there is. */
export async function filled(standIn: MockServices, template: string): Promise<string> {
  let path = template;
  for (const [braces, name = ''] of template.matchAll(/\{(\w+)\}/g))
    path = path.replace(braces, await one(standIn, name));
  return path;
}

async function one(standIn: MockServices, name: string): Promise<string> {
  if (name === 'volume_id') return connected(standIn);
  const list = lists[name];
  if (list === undefined) throw new Error(`nobody knows where a ${name} comes from`);
  return String(items(await get(standIn, list[0]))[0]?.[list[1]]);
}

/** A volume that the first edge is connected to. */
function connected({ fleet }: MockServices): string {
  const [guid] = fleet.appliances.find(({ kind }) => kind === 'edge')?.volumes ?? [];
  return fleet.volumes.find((volume) => volume.guid === guid)?.portalId ?? '';
}
