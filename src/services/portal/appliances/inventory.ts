import { UUID } from '../../../config/formats.ts';
import type { InventoryGap } from '../../../contract/service-details.ts';
import { isJsonObject, type JsonObject } from '../../../metrics/family.ts';
import { labelValue, type ReportDrop } from '../../../metrics/samples.ts';
import { RequestError, SchemaError } from '../../../runtime/errors.ts';
import { itemsOrEmpty } from '../records.ts';

/** The types of appliances that have telemetry. */
const TELEMETRY_TYPES = ['edge', 'file_iq'] as const;

/** The lists of one inventory poll: the serials, of which the portal lists one type in each response, and the edges. */
export const INVENTORY_LISTS = [
  ...TELEMETRY_TYPES.map(
    (type) => ({ name: `${type}_serials`, path: '/serials', query: { type, in_use: 'true' } }) as const,
  ),
  { name: 'edges', path: '/edges', query: {} },
] as const;

export type ListName = (typeof INVENTORY_LISTS)[number]['name'];

const SERIAL_FIELDS = { '/serials': 'id', '/edges': 'serial' } as const;

type ListPath = keyof typeof SERIAL_FIELDS;

/** The most records of one inventory list, because the list is read in one event-loop turn. */
const MAX_LISTED = 20_000;

/**
 * The records of appliances in use, by serial in lower case. Reports those without a usable serial. Throws a SchemaError for
 * a list without any usable serial, which must not remove the fleet, and a RequestError `oversize` for one that is too long.
 */
export function readList(body: unknown, path: ListPath, reportDrop: ReportDrop): ReadonlyMap<string, JsonObject> {
  const items = itemsOrEmpty(body, `GET ${path}`);
  const field = SERIAL_FIELDS[path];
  if (items.length > MAX_LISTED) {
    const found = `expected at most ${MAX_LISTED} records, got ${items.length}`;
    throw new RequestError('oversize', `reading GET ${path}: ${found}`, { problem: 'long_list' });
  }
  if (items.length > 0 && !items.some((item) => hasSerial(item, path)))
    throw new SchemaError(`reading GET ${path}: expected records with a uuid in ${field}, got none`);
  const records = new Map<string, JsonObject>();
  for (const [index, record] of items.entries()) {
    if (!hasSerial(record, path)) reportDrop('record', `GET ${path} items[${index}].${field}`);
    else if (path === '/edges' || isInUse(record)) records.set(labelValue(record[field]).toLowerCase(), record);
  }
  return records;
}

function isInUse({ type, in_use }: JsonObject): boolean {
  return in_use !== false && (labelValue(type) === '' || TELEMETRY_TYPES.some((wanted) => wanted === labelValue(type)));
}

function hasSerial(record: unknown, path: ListPath): record is JsonObject {
  return isJsonObject(record) && UUID.test(labelValue(record[SERIAL_FIELDS[path]]));
}

export interface Appliance {
  /** In lower case. It is the id in telemetry requests, and the label `serial`. */
  readonly serial: string;
  /** The id in `GET /edges`, in lower case, which other operations use; empty while unknown. */
  readonly edgeId: string;
  /** The serial while the name is unknown. */
  readonly name: string;
  /** `edge` or `file_iq`, as the portal spells it; empty while unknown. */
  readonly type: string;
  readonly build: string;
  /** The build that the portal offers; empty without one. */
  readonly availableBuild: string;
}

export type Inventory = ReadonlyMap<string, Appliance>;

/** The last list that could be read. */
export interface InventoryList {
  /** The records by serial. */
  readonly records: ReadonlyMap<string, JsonObject>;
  /** Whether it was read in this cycle. */
  readonly isCurrent: boolean;
}

/** The lists by name; a list that was never read, or is forbidden, is missing. */
export type InventoryLists = ReadonlyMap<ListName, InventoryList>;

interface ReadInventory {
  readonly appliances: Inventory;
  /** Whether the ids of `GET /serials` are known to be the serials of `GET /edges`. */
  readonly sharesIds: boolean;
  /** The lists that are empty, or that use other ids than the other list. */
  readonly gaps: readonly InventoryGap[];
}

/**
 * The appliances in use. Edges are those of `GET /serials`, unless that list is empty, or has other ids than `GET /edges`:
 *
 * | `GET /serials` lists | `GET /edges` lists | polled |
 * |---|---|---|
 * | some | none, or some of the same ids | serials |
 * | some | only other ids, and the ids were never the same | edges |
 * | none | edges, in this cycle | edges |
 * | none | edges, in an earlier cycle | none |
 * | unknown, because it was never read or is forbidden | some | edges |
 *
 * A list of an earlier cycle still says what is in use. Once the ids were the same they stay so, so that a replaced fleet is
 * polled although `GET /edges` is late.
 */
export function readInventory(lists: InventoryLists, sharedIds: boolean): ReadInventory {
  const recordsOf = (name: ListName): InventoryList['records'] => lists.get(name)?.records ?? new Map();
  const serials = recordsOf('edge_serials');
  const edges = recordsOf('edges');
  const sharesIds = sharedIds || [...serials.keys()].some((serial) => edges.has(serial));
  const hasOtherIds = serials.size > 0 && edges.size > 0 && !sharesIds;
  const isWithoutSerials = !lists.has('edge_serials') || (serials.size === 0 && lists.get('edges')?.isCurrent === true);

  const appliances = new Map<string, Appliance>();
  for (const [serial, record] of [...(hasOtherIds ? [] : serials), ...recordsOf('file_iq_serials')])
    appliances.set(serial, applianceOf(serial, record));
  for (const [serial, record] of edges) {
    const known = appliances.get(serial);
    if (known !== undefined || hasOtherIds || isWithoutSerials)
      appliances.set(serial, withEdge(known ?? unknownAppliance(serial), record));
  }
  return { appliances, sharesIds, gaps: gapsIn(lists, appliances.size, hasOtherIds) };
}

function applianceOf(serial: string, record: JsonObject): Appliance {
  return {
    ...unknownAppliance(serial),
    name: labelValue(record.description) || serial,
    type: labelValue(record.type),
    build: labelValue(record.build),
    availableBuild: labelValue(record.available_build),
  };
}

/** The record in `GET /edges` has the present name and build. */
function withEdge(known: Appliance, record: JsonObject): Appliance {
  return {
    ...known,
    edgeId: labelValue(record.id).toLowerCase(),
    name: labelValue(record.description) || known.name,
    type: known.type || 'edge',
    build: labelValue(record.build) || known.build,
  };
}

/** An empty list is a gap only if another list has appliances. If no list has any, the whole inventory is the gap. */
function gapsIn(lists: InventoryLists, appliances: number, hasOtherIds: boolean): readonly InventoryGap[] {
  const isCurrent = (name: ListName) => lists.get(name)?.isCurrent === true;
  const countOf = (name: ListName) => lists.get(name)?.records.size ?? 0;
  const [serials, edges] = [countOf('edge_serials'), countOf('edges')];
  const advice = 'check that the role of this key may see all appliances';
  if (appliances === 0) {
    const happened = 'the inventory is empty: GET /serials lists no appliance';
    const isKnown = isCurrent('edge_serials') && isCurrent('file_iq_serials');
    return isKnown ? [{ list: 'all', reason: 'empty', happened, advice }] : [];
  }
  if (hasOtherIds) {
    const happened = 'the ids of GET /serials are not the serials of GET /edges: edges are polled by the latter';
    return [{ list: 'edge_serials', reason: 'other_ids', happened, advice: 'compare both lists in the portal' }];
  }
  if (serials === 0 && edges > 0 && isCurrent('edge_serials')) {
    const happened = `GET /serials lists no edge, GET /edges lists ${edges}, and these are polled`;
    return [{ list: 'edge_serials', reason: 'empty', happened, advice }];
  }
  if (serials === 0 || edges > 0 || !isCurrent('edges')) return [];
  const happened = `GET /edges lists no appliance, GET /serials lists ${serials} edges`;
  return [{ list: 'edges', reason: 'empty', happened, advice }];
}

/** An appliance of which only the serial is known, such as one of `PORTAL_SERIALS` before the inventory is read. */
export function unknownAppliance(serial: string): Appliance {
  return { serial, edgeId: '', name: serial, type: '', build: '', availableBuild: '' };
}

/** With the portal's documented limits, this many appliances get one request each every ten minutes. */
const MAX_POLLED = 10_000;

/** The heap memory of one appliance with its name, tasks and samples, rounded up. */
const APPLIANCE_BYTES = 128 * 1024;

export function maxAppliances(heapBytes: number): number {
  return Math.min(MAX_POLLED, Math.floor(heapBytes / APPLIANCE_BYTES));
}
