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

/** Throws a SchemaError for a list without any usable serial, which must not remove the fleet, and a RequestError `oversize` for a list that is too long. */
export function checkInventoryList(body: unknown, path: ListPath): void {
  const items = itemsOrEmpty(body, `GET ${path}`);
  if (items.length > MAX_LISTED) {
    const found = `expected at most ${MAX_LISTED} records, got ${items.length}`;
    throw new RequestError('oversize', `reading GET ${path}: ${found}`, { problem: 'long_list' });
  }
  if (items.length === 0 || items.some((item) => hasSerial(item, path))) return;
  throw new SchemaError(`reading GET ${path}: expected records with a uuid in ${SERIAL_FIELDS[path]}, got none`);
}

/** The records of appliances in use. Reports those without a usable serial. Throws a SchemaError if the body is no list. */
export function appliancesIn(body: unknown, path: ListPath, reportDrop: ReportDrop): readonly JsonObject[] {
  return itemsOrEmpty(body, `GET ${path}`).flatMap((record, index) => {
    if (!hasSerial(record, path)) {
      reportDrop('record', `GET ${path} items[${index}].${SERIAL_FIELDS[path]}`);
      return [];
    }
    return path === '/edges' || isInUse(record) ? [record] : [];
  });
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
  /** The appliance's records in fresh lists, from which other collectors make samples. */
  readonly records?: { readonly serial?: JsonObject; readonly edge?: JsonObject };
}

export type Inventory = ReadonlyMap<string, Appliance>;

/** The last list that could be read. */
export interface InventoryList {
  readonly items: readonly JsonObject[];
  /** Whether it was read in this cycle. */
  readonly isCurrent: boolean;
  /** Whether its values may be exposed. From an older list only names and builds are used. */
  readonly isFresh: boolean;
}

/** By name; a list that was never read, or is forbidden, is missing. */
export type InventoryLists = ReadonlyMap<ListName, InventoryList>;

interface ReadInventory {
  readonly appliances: Inventory;
  /** Whether the ids of `GET /serials` are known to be the serials of `GET /edges`. */
  readonly sharesIds: boolean;
  /** The lists that are empty, or that use other ids than the other list. */
  readonly gaps: readonly InventoryGap[];
}

const UNREAD: InventoryList = { items: [], isCurrent: false, isFresh: false };

/**
 * The appliances in use. Edges are those of `GET /serials`, unless it has none, or has other ids than `GET /edges`:
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
  const serials = lists.get('edge_serials');
  const edges = lists.get('edges') ?? UNREAD;
  const edgeSerials = new Set(edges.items.map(serialOfEdge));
  const hasSerials = serials !== undefined && serials.items.length > 0;
  const sharesIds = sharedIds || (serials?.items ?? []).some((record) => edgeSerials.has(serialOf(record)));
  const hasOtherIds = hasSerials && edgeSerials.size > 0 && !sharesIds;
  const isByEdges = hasSerials ? hasOtherIds : serials === undefined || edges.isCurrent;

  const appliances = new Map<string, Appliance>();
  const listed = [hasOtherIds ? UNREAD : (serials ?? UNREAD), lists.get('file_iq_serials') ?? UNREAD];
  for (const { items, isFresh } of listed) {
    for (const record of items) appliances.set(serialOf(record), applianceOf(record, isFresh));
  }
  for (const record of edges.items) {
    const serial = serialOfEdge(record);
    const known = appliances.get(serial);
    if (known !== undefined || isByEdges)
      appliances.set(serial, withEdge(known ?? unknownAppliance(serial), record, edges.isFresh));
  }
  return { appliances, sharesIds, gaps: gapsIn(lists, appliances.size, hasOtherIds) };
}

function serialOf({ id }: JsonObject): string {
  return labelValue(id).toLowerCase();
}

function serialOfEdge({ serial }: JsonObject): string {
  return labelValue(serial).toLowerCase();
}

function applianceOf(record: JsonObject, isFresh: boolean): Appliance {
  const serial = serialOf(record);
  return {
    ...unknownAppliance(serial),
    name: labelValue(record.description) || serial,
    type: labelValue(record.type),
    build: labelValue(record.build),
    availableBuild: labelValue(record.available_build),
    records: isFresh ? { serial: record } : {},
  };
}

/** The record in `GET /edges` has the present name and build. */
function withEdge(known: Appliance, record: JsonObject, isFresh: boolean): Appliance {
  return {
    ...known,
    edgeId: labelValue(record.id).toLowerCase(),
    name: labelValue(record.description) || known.name,
    type: known.type || 'edge',
    build: labelValue(record.build) || known.build,
    records: { ...known.records, ...(isFresh && { edge: record }) },
  };
}

/** An empty list is a gap only if another list has appliances. If no list has any, the whole inventory is the gap. */
function gapsIn(lists: InventoryLists, appliances: number, hasOtherIds: boolean): readonly InventoryGap[] {
  const isCurrent = (name: ListName) => lists.get(name)?.isCurrent === true;
  const countOf = (name: ListName) => lists.get(name)?.items.length ?? 0;
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
