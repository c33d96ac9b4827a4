import { type Fields, isFields, kindOf } from '../../metrics/family.ts';
import type { NoteDrop } from '../../metrics/samples.ts';
import { epochMilliseconds } from '../../metrics/units.ts';
import { ShapeError } from '../../runtime/errors.ts';

/** The newest records of a series that are read: a week by the minute. An older value is not current. */
const MOST_RECORDS = 10_000;

/**
 * The records of a series' answer, newest first, because the order of `items` is not guaranteed. Notes and skips
 * records without a readable time. `num_cores`, which is beside `items`, becomes the last record; other fields beside
 * `items` are ignored. Throws a ShapeError if the answer is not a series.
 *
 * Runs in one turn of the event loop: the limits of answers bound the number of records, and records already in order,
 * oldest or newest first, are sorted in one pass.
 */
export function newestFirst(body: unknown, note: NoteDrop): readonly Fields[] {
  const dated: { readonly time: number; readonly record: Fields }[] = [];
  const items = itemsOf(body, 'the series');
  for (let index = 0; index < items.length; index += 1) {
    const record = items[index];
    const time = isFields(record) ? secondsOf(record) : undefined;
    if (time === undefined || !isFields(record)) note('record', `items[${index}].time`);
    else dated.push({ time, record });
  }
  dated.sort((a, b) => b.time - a.time);
  const records = dated.slice(0, MOST_RECORDS).map(({ record }) => record);
  const { num_cores } = body as Fields;
  return num_cores === undefined || num_cores === null ? records : [...records, { num_cores }];
}

export function secondsOf({ time }: Fields): number | undefined {
  return epochMilliseconds.read(time);
}

/** Throws a ShapeError if the answer has no such list; `what` names the answer in its message. */
export function itemsOf(body: unknown, what: string, list = 'items'): readonly unknown[] {
  const items = objectOf(body, what)[list];
  if (!Array.isArray(items)) throw new ShapeError(`reading ${what}: ${list}: expected a list, got ${kindOf(items)}`);
  return items;
}

/** Like {@link itemsOf}, for answers in which an empty list may be missing. */
export function optionalItemsOf(body: unknown, what: string): readonly unknown[] {
  return isFields(body) && (body.items === undefined || body.items === null) ? [] : itemsOf(body, what);
}

/** Notes and skips other values. Without `list` it is `items`, which may be missing if empty. Throws a ShapeError. */
export function* listed(body: unknown, what: string, note: NoteDrop, list?: string): Generator<Fields> {
  const items = list === undefined ? optionalItemsOf(body, what) : itemsOf(body, what, list);
  for (const [index, record] of items.entries()) {
    if (isFields(record)) yield record;
    else note('record', `${what} ${list ?? 'items'}[${index}]`);
  }
}

export async function allOf(records: AsyncIterable<Fields> | Iterable<Fields>): Promise<readonly Fields[]> {
  const all: Fields[] = [];
  for await (const record of records) all.push(record);
  return all;
}

/** Empty if it is not an object. */
export function fieldsIn(value: unknown): Fields {
  return isFields(value) ? value : {};
}

/** The objects of a list; empty if it is not a list. */
export function recordsIn(list: unknown): readonly Fields[] {
  return Array.isArray(list) ? list.filter(isFields) : [];
}

export function objectOf(body: unknown, what: string): Fields {
  if (!isFields(body)) throw new ShapeError(`reading ${what}: expected a JSON object, got ${kindOf(body)}`);
  return body;
}
