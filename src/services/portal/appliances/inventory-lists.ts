import { UUID } from '../../../config/list-types.ts';
import { isJsonObject, type JsonObject } from '../../../metrics/family.ts';
import { labelValue, type ReportDrop } from '../../../metrics/samples.ts';
import { RequestError, SchemaError } from '../../../runtime/errors.ts';
import { itemsOrEmpty } from '../records.ts';

/** The kinds of serials that have telemetry. */
const TELEMETRY_TYPES = ['edge', 'file_iq'] as const;

/** The lists of one round: the serials of each type, which the portal gives one by one, and the edges. */
export const INVENTORY_LISTS = [
  ...TELEMETRY_TYPES.map(
    (type) => ({ name: `${type}_serials`, path: '/serials', query: { type, in_use: 'true' } }) as const,
  ),
  { name: 'edges', path: '/edges', query: {} },
] as const;

export type ListName = (typeof INVENTORY_LISTS)[number]['name'];

const SERIAL_FIELDS = { '/serials': 'id', '/edges': 'serial' } as const;

export type ListPath = keyof typeof SERIAL_FIELDS;

/** The most records of one inventory list: it is read in one turn. */
const MAX_LISTED = 20_000;

/** Throws a ShapeError for a list without a usable serial, which must not empty the fleet; `oversize` if it is long. */
export function checkInventoryList(body: unknown, path: ListPath): void {
  const items = itemsOrEmpty(body, `GET ${path}`);
  if (items.length > MAX_LISTED) {
    const found = `expected at most ${MAX_LISTED} records, got ${items.length}`;
    throw new RequestError('oversize', `reading GET ${path}: ${found}; name the appliances to poll in PORTAL_SERIALS`);
  }
  if (items.length === 0 || items.some((item) => hasSerial(item, path))) return;
  throw new SchemaError(`reading GET ${path}: expected records with a uuid in ${SERIAL_FIELDS[path]}, got none`);
}

export function* serialRecords(name: ListName, body: unknown, note: ReportDrop): Generator<JsonObject> {
  if (body === undefined) return;
  const path = name === 'edges' ? '/edges' : '/serials';
  for (const [index, record] of itemsOrEmpty(body, `GET ${path}`).entries()) {
    if (!hasSerial(record, path)) note('record', `GET ${path} items[${index}].${SERIAL_FIELDS[path]}`);
    else if (path === '/edges' || isInUse(record)) yield record;
  }
}

function isInUse({ type, in_use }: JsonObject): boolean {
  return in_use !== false && (labelValue(type) === '' || TELEMETRY_TYPES.some((wanted) => wanted === labelValue(type)));
}

function hasSerial(record: unknown, path: ListPath): record is JsonObject {
  return isJsonObject(record) && UUID.test(labelValue(record[SERIAL_FIELDS[path]]));
}
