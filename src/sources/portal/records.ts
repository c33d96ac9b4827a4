import { type Fields, isFields, kindOf } from '../../metrics/family.ts';
import type { NoteDrop } from '../../metrics/samples.ts';
import { decimal } from '../../metrics/units.ts';
import { ShapeError } from '../../runtime/errors.ts';

/** The newest records of a series that are looked at: a week by the minute. A value that is older is none of now. */
const MOST_RECORDS = 10_000;

/** Throws a ShapeError when an answer is none of a series; looks at no record. */
export function checkSeries(body: unknown): void {
  itemsOf(body, 'the series');
}

/**
 * The records of a series' answer, newest first, for the order of `items` is not promised (upstream-api.md 4.2). What
 * has no readable time is noted and left out. `num_cores`, which is beside `items`, comes last as a record of its own;
 * other fields beside it do not belong to the series. Throws a ShapeError as {@link checkSeries} does.
 *
 * One turn of the event loop: the limits of answers bound how many records there are, and where they are in order, the
 * oldest or the newest first, sorting them is looking at each once.
 */
export function newestFirst(body: unknown, note: NoteDrop): readonly Fields[] {
  const dated: { readonly time: number; readonly record: Fields }[] = [];
  const items = itemsOf(body, 'the series');
  for (let index = 0; index < items.length; index += 1) {
    const record = items[index];
    const time = isFields(record) ? decimal(record.time) : undefined;
    if (time === undefined || !isFields(record)) note('record', `items[${index}].time`);
    else dated.push({ time, record });
  }
  dated.sort((a, b) => b.time - a.time);
  const records = dated.slice(0, MOST_RECORDS).map(({ record }) => record);
  const { num_cores } = body as Fields;
  return num_cores === undefined || num_cores === null ? records : [...records, { num_cores }];
}

/** The list `items` of an answer. Throws a ShapeError when there is none; `what` names the answer in its message. */
export function itemsOf(body: unknown, what: string): readonly unknown[] {
  if (!isFields(body)) throw new ShapeError(`reading ${what}: expected a JSON object, got ${kindOf(body)}`);
  if (!Array.isArray(body.items)) {
    throw new ShapeError(`reading ${what}: items: expected a list, got ${kindOf(body.items)}`);
  }
  return body.items;
}

/** Like {@link itemsOf}, where the service may leave an empty list out (upstream-api.md 5). */
export function optionalItemsOf(body: unknown, what: string): readonly unknown[] {
  return isFields(body) && (body.items === undefined || body.items === null) ? [] : itemsOf(body, what);
}

/**
 * The objects of an answer's list, each with its place; what is none is noted and left out. The list itself may be
 * missing, which is an empty one. Throws a ShapeError when the answer is no object or the list no list.
 */
export function* listed(body: unknown, what: string, note: NoteDrop): Generator<Fields> {
  for (const [index, record] of optionalItemsOf(body, what).entries()) {
    if (isFields(record)) yield record;
    else note('record', `${what} items[${index}]`);
  }
}

/** An answer that is one object. Throws a ShapeError when it is something else. */
export function objectOf(body: unknown, what: string): Fields {
  if (!isFields(body)) throw new ShapeError(`reading ${what}: expected a JSON object, got ${kindOf(body)}`);
  return body;
}
