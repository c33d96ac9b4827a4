import type { InventoryGap } from '../../../contract/service-details.ts';
import type { JsonObject } from '../../../metrics/family.ts';
import { labelValue, type ReportDrop } from '../../../metrics/samples.ts';
import { HIDDEN_APPLIANCES } from '../causes.ts';
import { type ListName, serialRecords } from './inventory-lists.ts';

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
  /** The appliance's records in the lists of this cycle, from which other collectors make samples. */
  readonly records?: { readonly serial?: JsonObject; readonly edge?: JsonObject };
}

export type Inventory = ReadonlyMap<string, Appliance>;

export interface ListResponse {
  readonly body: unknown;
  /** Whether the response is of this cycle; otherwise it is of an earlier one. */
  readonly isCurrent: boolean;
  /** Whether its values may be exposed. From an older response only names and builds are used. */
  readonly isFresh: boolean;
}

export interface ParsedInventory {
  readonly appliances: Inventory;
  /** The lists that are empty, or that use other ids than the other lists. */
  readonly gaps: readonly InventoryGap[];
}

/**
 * The appliances in use, from the lists that there are. If `GET /serials` lists at least one serial of `GET /edges`, an
 * edge that it does not list is not in use. If it lists none of them, its ids are no serials, and all of `GET /edges` is
 * used. Reports records without a usable serial. Throws a SchemaError if a response is not a list.
 */
export function readInventory(responses: ReadonlyMap<ListName, ListResponse>, reportDrop: ReportDrop): ParsedInventory {
  const listed = (name: ListName) => ({
    ...responses.get(name),
    items: [...serialRecords(name, responses.get(name)?.body, reportDrop)],
  });
  const [edgeSerials, fileIq, edges] = [listed('edge_serials'), listed('file_iq_serials'), listed('edges')];
  const serialOf = ({ serial }: JsonObject) => labelValue(serial).toLowerCase();
  const namedSerials = new Set(edgeSerials.items.map(({ id }) => labelValue(id).toLowerCase()));
  const noEdgeIsNamed = !edges.items.some((edge) => namedSerials.has(serialOf(edge)));
  // An edge list of an earlier cycle does not show that edges still exist.
  const areEdgesGone = namedSerials.size === 0 && edges.isCurrent !== true;
  const haveOtherIds = namedSerials.size > 0 && edges.items.length > 0 && noEdgeIsNamed;
  const appliances = new Map<string, Appliance>();
  for (const { items, isFresh } of [haveOtherIds ? { ...edgeSerials, items: [] } : edgeSerials, fileIq]) {
    for (const record of items) {
      const serial = labelValue(record.id).toLowerCase();
      if (appliances.has(serial)) reportDrop('duplicate', 'serials.id');
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
    if (edgesRead.has(serial)) reportDrop('duplicate', 'edges.serial');
    edgesRead.add(serial);
    if (edgeSerials.isCurrent && (!noEdgeIsNamed || areEdgesGone) && !appliances.has(serial)) continue;
    const earlier = appliances.get(serial) ?? unknownAppliance(serial);
    appliances.set(serial, {
      ...earlier,
      edgeId: labelValue(record.id).toLowerCase(),
      name: labelValue(record.description) || earlier.name,
      type: earlier.type || 'edge',
      build: labelValue(record.build) || earlier.build,
      records: { ...earlier.records, ...(edges.isFresh && { edge: record }) },
    });
  }
  return {
    appliances,
    gaps: gapsIn(responses, {
      appliances: appliances.size,
      serials: namedSerials.size,
      edges: edges.items.length,
      haveOtherIds,
    }),
  };
}

/** An empty list is a gap only if another list has appliances. If no list has any, the whole inventory is the gap. */
function gapsIn(
  responses: ReadonlyMap<ListName, ListResponse>,
  counts: {
    readonly appliances: number;
    readonly serials: number;
    readonly edges: number;
    readonly haveOtherIds: boolean;
  },
): readonly InventoryGap[] {
  const { edges, serials } = counts;
  const advice = HIDDEN_APPLIANCES;
  const isCurrent = (name: ListName) => responses.get(name)?.isCurrent === true;
  if (counts.appliances === 0) {
    const happened = 'the inventory is empty: GET /serials lists no appliance';
    const isKnown = isCurrent('edge_serials') && isCurrent('file_iq_serials');
    return isKnown ? [{ list: 'all', reason: 'empty', happened, advice }] : [];
  }
  if (counts.haveOtherIds) {
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
