import { UUID } from '../../../config/formats.ts';
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

export type ListPath = keyof typeof SERIAL_FIELDS;

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
