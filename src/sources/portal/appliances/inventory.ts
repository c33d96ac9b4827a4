import { UUID } from '../../../config/lists.ts';
import { type Fields, isFields } from '../../../metrics/family.ts';
import { type NoteDrop, text } from '../../../metrics/samples.ts';
import { RequestError, ShapeError } from '../../../runtime/errors.ts';
import { optionalItemsOf } from '../records.ts';

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
  readonly records?: { readonly serial?: Fields; readonly edge?: Fields };
}

/** The kinds of serials that have telemetry (upstream-api.md 5.2). */
export const TELEMETRY_TYPES = ['edge', 'file_iq'] as const;

/** Of one round: a list of the serials of each type, and one of the edges. */
export const INVENTORY_REQUESTS = TELEMETRY_TYPES.length + 1;

/** Appliances by one of their ids. */
export type Inventory = ReadonlyMap<string, Appliance>;

/** Undefined for a missing answer. */
export interface InventoryAnswers {
  /** One for each type. */
  readonly serials: readonly unknown[] | undefined;
  /** The body of `GET /edges`, and whether it may be exposed: an old one only has names and builds. */
  readonly edges: unknown;
  readonly areEdgesFresh?: boolean;
}

/**
 * The appliances in use, from both lists: `GET /serials` names the appliances, `GET /edges` has more exact builds and
 * replaces the serials if they are rejected. Skips records that are not about an appliance in use; notes records
 * without a usable serial. Throws a ShapeError if an answer is not a list.
 */
export function readInventory(answers: InventoryAnswers, note: NoteDrop): Inventory {
  const appliances = new Map<string, Appliance>();
  for (const body of answers.serials ?? []) {
    for (const record of records(body, '/serials', note)) {
      const type = text(record.type);
      const known = type === '' || TELEMETRY_TYPES.some((wanted) => wanted === type);
      if (!known || record.in_use === false) continue;
      const serial = text(record.id).toLowerCase();
      appliances.set(serial, {
        ...unknownAppliance(serial),
        name: text(record.description) || serial,
        type,
        build: text(record.build),
        availableBuild: text(record.available_build),
        records: { serial: record },
      });
    }
  }
  if (answers.edges === undefined) return appliances;
  for (const record of records(answers.edges, '/edges', note)) {
    const serial = text(record.serial).toLowerCase();
    if (answers.serials !== undefined && !appliances.has(serial)) continue;
    const listed = appliances.get(serial) ?? unknownAppliance(serial);
    appliances.set(serial, {
      ...listed,
      edgeId: text(record.id).toLowerCase(),
      name: text(record.description) || listed.name,
      type: listed.type || 'edge',
      build: text(record.build) || listed.build,
      records: { ...listed.records, ...(answers.areEdgesFresh && { edge: record }) },
    });
  }
  return appliances;
}

/** Such as one of `PORTAL_SERIALS` before the inventory was read. */
export function unknownAppliance(serial: string): Appliance {
  return { serial, edgeId: '', name: serial, type: '', build: '', availableBuild: '' };
}

/** The field with the serial in the records of each list. */
const SERIAL_FIELDS = { '/serials': 'id', '/edges': 'serial' } as const;

export type ListPath = keyof typeof SERIAL_FIELDS;

/** The most records of one inventory list: it is read in one turn. */
const MOST_LISTED = 20_000;

/**
 * The most appliances of one instance: within the portal's usual limits, each could be sent one request every ten
 * minutes.
 */
const MOST_POLLED = 10_000;

/** Heap memory of an appliance with its name, tasks and samples, in bytes; rounded up. */
const APPLIANCE_BYTES = 128 * 1024;

export function mostAppliances(heapBytes: number): number {
  return Math.min(MOST_POLLED, Math.floor(heapBytes / APPLIANCE_BYTES));
}

/**
 * Throws a ShapeError if the body is not an inventory list: not a list, or a list without a single usable serial. Such
 * an answer must not empty the fleet. Throws a RequestError `oversize` for a list that is too long.
 */
export function checkInventoryList(body: unknown, path: ListPath): void {
  const items = optionalItemsOf(body, `GET ${path}`);
  if (items.length > MOST_LISTED) {
    const found = `expected at most ${MOST_LISTED} records, got ${items.length}`;
    throw new RequestError('oversize', `reading GET ${path}: ${found}; name the appliances to poll in PORTAL_SERIALS`);
  }
  if (items.length === 0 || items.some((item) => hasSerial(item, path))) return;
  throw new ShapeError(`reading GET ${path}: expected records with a uuid in ${SERIAL_FIELDS[path]}, got none`);
}

function hasSerial(record: unknown, path: ListPath): record is Fields {
  return isFields(record) && UUID.test(text(record[SERIAL_FIELDS[path]]));
}

function* records(body: unknown, path: ListPath, note: NoteDrop): Generator<Fields> {
  for (const [index, record] of optionalItemsOf(body, `GET ${path}`).entries()) {
    if (hasSerial(record, path)) yield record;
    else note('record', `GET ${path} items[${index}].${SERIAL_FIELDS[path]}`);
  }
}
