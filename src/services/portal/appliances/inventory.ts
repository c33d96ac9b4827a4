import type { JsonObject } from '../../../metrics/family.ts';
import { labelValue, type ReportDrop } from '../../../metrics/samples.ts';
import type { InventoryGap } from '../../../status/model.ts';
import { type ListName, serialRecords } from './inventory-lists.ts';

export interface Appliance {
  /** In lower case: identifies its telemetry, and is the label `serial`. */
  readonly serial: string;
  /** The id of the edge in lower case, used by other operations; empty while unknown. */
  readonly edgeId: string;
  /** Its serial while unknown. */
  readonly name: string;
  /** `edge` or `file_iq`, as the portal spells it; empty while unknown. */
  readonly type: string;
  readonly build: string;
  /** Empty if it cannot be updated. */
  readonly availableBuild: string;
  /** What the lists of this round hold about it, for other rows than those of the inventory. */
  readonly records?: { readonly serial?: JsonObject; readonly edge?: JsonObject };
}

export type Inventory = ReadonlyMap<string, Appliance>;

export interface ListResponse {
  readonly body: unknown;
  /** Whether this round answered it; else it is the answer of an earlier one. */
  readonly isCurrent: boolean;
  /** Whether its values may be exposed: an old one only has names and builds. */
  readonly isFresh: boolean;
}

export interface ParsedInventory {
  readonly appliances: Inventory;
  /** Lists that are empty, or that name the appliances in another way than the others. */
  readonly gaps: readonly InventoryGap[];
}

/**
 * The appliances in use. Each list stands for itself: those that are missing do not take from the others. Where `GET
 * /serials` names edges by the serials of `GET /edges`, edges that it leaves out are not in use; where it names none of
 * them, `GET /edges` is right. Notes records without a usable serial. Throws a ShapeError if an answer is not a list.
 */
export function readInventory(answers: ReadonlyMap<ListName, ListResponse>, note: ReportDrop): ParsedInventory {
  const listed = (name: ListName) => ({
    ...answers.get(name),
    items: [...serialRecords(name, answers.get(name)?.body, note)],
  });
  const [edgeSerials, fileIq, edges] = [listed('edge_serials'), listed('file_iq_serials'), listed('edges')];
  const serialOf = ({ serial }: JsonObject) => labelValue(serial).toLowerCase();
  const named = new Set(edgeSerials.items.map(({ id }) => labelValue(id).toLowerCase()));
  const isNone = !edges.items.some((edge) => named.has(serialOf(edge)));
  // An earlier list of edges does not say that there still are any.
  const isEmptied = named.size === 0 && edges.isCurrent !== true;
  const areOthers = named.size > 0 && edges.items.length > 0 && isNone;
  const appliances = new Map<string, Appliance>();
  for (const { items, isFresh } of [areOthers ? { ...edgeSerials, items: [] } : edgeSerials, fileIq]) {
    for (const record of items) {
      const serial = labelValue(record.id).toLowerCase();
      if (appliances.has(serial)) note('duplicate', 'serials.id');
      appliances.set(serial, {
        ...unknownAppliance(serial),
        name: labelValue(record.description) || serial,
        type: labelValue(record.type),
        build: labelValue(record.build),
        availableBuild: labelValue(record.available_build),
        records: isFresh ? { serial: record } : {},
      });
    }
  }
  const edgesRead = new Set<string>();
  for (const record of edges.items) {
    const serial = serialOf(record);
    if (edgesRead.has(serial)) note('duplicate', 'edges.serial');
    edgesRead.add(serial);
    if (edgeSerials.isCurrent && (!isNone || isEmptied) && !appliances.has(serial)) continue;
    const known = appliances.get(serial) ?? unknownAppliance(serial);
    appliances.set(serial, {
      ...known,
      edgeId: labelValue(record.id).toLowerCase(),
      name: labelValue(record.description) || known.name,
      type: known.type || 'edge',
      build: labelValue(record.build) || known.build,
      records: { ...known.records, ...(edges.isFresh && { edge: record }) },
    });
  }
  return {
    appliances,
    gaps: gapsIn(answers, { all: appliances.size, named: named.size, edges: edges.items.length, areOthers }),
  };
}

/** Empty lists matter only beside others: where nothing is listed, all of them do. */
function gapsIn(
  answers: ReadonlyMap<ListName, ListResponse>,
  { all, named, edges, areOthers }: { all: number; named: number; edges: number; areOthers: boolean },
): readonly InventoryGap[] {
  const rights = 'check that the role of this key may see all appliances.';
  const isCurrent = (name: ListName) => answers.get(name)?.isCurrent === true;
  if (all === 0) {
    const message = `The inventory is empty: GET /serials lists no appliance; ${rights}`;
    const isKnown = isCurrent('edge_serials') && isCurrent('file_iq_serials');
    return isKnown ? [{ list: 'all', reason: 'empty', message }] : [];
  }
  if (areOthers) {
    const message = 'The ids of GET /serials are not the serials of GET /edges: edges are polled by the latter.';
    return [{ list: 'edge_serials', reason: 'other_ids', message }];
  }
  if (named === 0 && edges > 0 && isCurrent('edge_serials')) {
    const message = `GET /serials lists no edge, GET /edges lists ${edges}, and these are polled; ${rights}`;
    return [{ list: 'edge_serials', reason: 'empty', message }];
  }
  if (named === 0 || edges > 0 || !isCurrent('edges')) return [];
  const message = `GET /edges lists no appliance, GET /serials lists ${named} edges; ${rights}`;
  return [{ list: 'edges', reason: 'empty', message }];
}

/** Such as one of `PORTAL_SERIALS` before the inventory was read. */
export function unknownAppliance(serial: string): Appliance {
  return { serial, edgeId: '', name: serial, type: '', build: '', availableBuild: '' };
}

/** Within the portal's usual limits, each could be sent one request every ten minutes. */
const MAX_POLLED = 10_000;

/** Heap memory of an appliance with its name, tasks and samples, in bytes; rounded up. */
const APPLIANCE_BYTES = 128 * 1024;

export function maxAppliances(heapBytes: number): number {
  return Math.min(MAX_POLLED, Math.floor(heapBytes / APPLIANCE_BYTES));
}
