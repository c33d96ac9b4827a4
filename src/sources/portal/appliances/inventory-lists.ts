import { UUID } from '../../../config/lists.ts';
import { type Fields, isFields } from '../../../metrics/family.ts';
import { type NoteDrop, text } from '../../../metrics/samples.ts';
import { RequestError, ShapeError } from '../../../runtime/errors.ts';
import { optionalItemsOf } from '../records.ts';

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
const MOST_LISTED = 20_000;

/** Throws a ShapeError for a list without a usable serial, which must not empty the fleet; `oversize` if it is long. */
export function checkInventoryList(body: unknown, path: ListPath): void {
  const items = optionalItemsOf(body, `GET ${path}`);
  if (items.length > MOST_LISTED) {
    const found = `expected at most ${MOST_LISTED} records, got ${items.length}`;
    throw new RequestError('oversize', `reading GET ${path}: ${found}; name the appliances to poll in PORTAL_SERIALS`);
  }
  if (items.length === 0 || items.some((item) => hasSerial(item, path))) return;
  throw new ShapeError(`reading GET ${path}: expected records with a uuid in ${SERIAL_FIELDS[path]}, got none`);
}

export function* listedIn(name: ListName, body: unknown, note: NoteDrop): Generator<Fields> {
  if (body === undefined) return;
  const path = name === 'edges' ? '/edges' : '/serials';
  for (const [index, record] of optionalItemsOf(body, `GET ${path}`).entries()) {
    if (!hasSerial(record, path)) note('record', `GET ${path} items[${index}].${SERIAL_FIELDS[path]}`);
    else if (path === '/edges' || isInUse(record)) yield record;
  }
}

function isInUse({ type, in_use }: Fields): boolean {
  return in_use !== false && (text(type) === '' || TELEMETRY_TYPES.some((wanted) => wanted === text(type)));
}

function hasSerial(record: unknown, path: ListPath): record is Fields {
  return isFields(record) && UUID.test(text(record[SERIAL_FIELDS[path]]));
}
