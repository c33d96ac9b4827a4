import { type Fields, isFields } from '../../../metrics/family.ts';
import { type NoteDrop, text } from '../../../metrics/samples.ts';
import { RequestError, ShapeError } from '../../../runtime/errors.ts';
import { optionalItemsOf } from '../records.ts';

/** An appliance that telemetry is asked of. */
export interface Appliance {
  /** In lower case: the key of its telemetry and the label `serial`. */
  readonly serial: string;
  /** The id of the edge, in lower case, by which other operations know it; empty while unknown. */
  readonly edgeId: string;
  /** Its name in the inventory, or its serial while unknown. */
  readonly name: string;
  /** `edge` or `file_iq`, as the portal spells it; empty while unknown. */
  readonly type: string;
  readonly build: string;
  /** The build that it could be updated to; empty when there is none. */
  readonly availableBuild: string;
}

/** The kinds of serials that have telemetry (upstream-api.md 5.2). */
export const TELEMETRY_TYPES = ['edge', 'file_iq'] as const;

/** The appliances of an inventory, found by whatever another answer calls them. */
export interface ApplianceIndex {
  /** Whether the inventory has been read once, successfully or not: before that nothing can be found. */
  readonly hasBeenAsked: boolean;
  /** The appliances that this instance polls. */
  own(): readonly Appliance[];
  /** Every appliance, those of other shards among them. */
  all(): Iterable<Appliance>;
  /** By serial or by the id of an edge, in any case; undefined where the inventory has none of it. */
  find(id: string): Appliance | undefined;
}

const UUID = /^[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}$/;

/** Appliances by serial. */
export type Inventory = ReadonlyMap<string, Appliance>;

/** What the answers of an inventory round brought; undefined for one that was not given. */
export interface InventoryAnswers {
  /** The bodies of `GET /serials`, one for each type. */
  readonly serials: readonly unknown[] | undefined;
  /** The body of `GET /edges`. */
  readonly edges: unknown;
}

/**
 * The appliances in use, named and dated by both lists: `GET /serials` says which there are, `GET /edges` knows builds
 * better and stands in where the serials are forbidden. Records that are not about an appliance in use are passed over,
 * those without a usable serial are noted. Throws a ShapeError when an answer is no list.
 */
export function readInventory(answers: InventoryAnswers, note: NoteDrop): Inventory {
  const appliances = new Map<string, Appliance>();
  for (const body of answers.serials ?? []) {
    for (const record of records(body, 'GET /serials', SERIAL_FIELDS['/serials'], note)) {
      const type = text(record.type);
      const known = type === '' || TELEMETRY_TYPES.some((wanted) => wanted === type);
      if (!known || record.in_use === false) continue;
      const serial = text(record.id).toLowerCase();
      appliances.set(serial, {
        serial,
        edgeId: '',
        name: text(record.description) || serial,
        type,
        build: text(record.build),
        availableBuild: text(record.available_build),
      });
    }
  }
  if (answers.edges === undefined) return appliances;
  for (const record of records(answers.edges, 'GET /edges', SERIAL_FIELDS['/edges'], note)) {
    const serial = text(record.serial).toLowerCase();
    const listed = appliances.get(serial);
    if (listed === undefined && answers.serials !== undefined) continue;
    appliances.set(serial, {
      serial,
      edgeId: text(record.id).toLowerCase(),
      name: text(record.description) || listed?.name || serial,
      type: listed?.type || 'edge',
      build: text(record.build) || listed?.build || '',
      availableBuild: listed?.availableBuild ?? '',
    });
  }
  return appliances;
}

/** An appliance known by its serial alone, as one of `PORTAL_SERIALS` before the inventory was read. */
export function unknownAppliance(serial: string): Appliance {
  return { serial, edgeId: '', name: serial, type: '', build: '', availableBuild: '' };
}

/** The field that holds the serial in the records of a list. */
const SERIAL_FIELDS = { '/serials': 'id', '/edges': 'serial' } as const;

/** Records of one inventory list at most, for it is read in one turn. */
const MOST_LISTED = 20_000;

/** Appliances of one instance at most: with the portal's usual limits each could be asked something every ten minutes. */
const MOST_POLLED = 10_000;

/** What an appliance takes of the heap with its name, its tasks and what is made of its answers, in bytes: rather more. */
const APPLIANCE_BYTES = 128 * 1024;

/** How many appliances an instance may poll without want of memory. */
export function mostAppliances(heapBytes: number): number {
  return Math.min(MOST_POLLED, Math.floor(heapBytes / APPLIANCE_BYTES));
}

/**
 * Throws a ShapeError when the body of an inventory list is none: no list, or one of records of which not a single one has
 * a usable serial. Such an answer must not empty the fleet. Throws a RequestError `oversize` for one that is too long.
 */
export function checkInventoryList(body: unknown, path: keyof typeof SERIAL_FIELDS): void {
  const items = optionalItemsOf(body, `GET ${path}`);
  if (items.length > MOST_LISTED) {
    const found = `expected at most ${MOST_LISTED} records, got ${items.length}`;
    throw new RequestError('oversize', `reading GET ${path}: ${found}; name the appliances to poll in PORTAL_SERIALS`);
  }
  if (items.length === 0 || items.some((item) => hasSerial(item, SERIAL_FIELDS[path]))) return;
  throw new ShapeError(`reading GET ${path}: expected records with a uuid in ${SERIAL_FIELDS[path]}, got none`);
}

function hasSerial(record: unknown, key: string): record is Fields {
  return isFields(record) && UUID.test(text(record[key]).toLowerCase());
}

function* records(body: unknown, what: string, key: string, note: NoteDrop): Generator<Fields> {
  for (const [index, record] of optionalItemsOf(body, what).entries()) {
    if (hasSerial(record, key)) yield record;
    else note('record', `${what} items[${index}].${key}`);
  }
}
