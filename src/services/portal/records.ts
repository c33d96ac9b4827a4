import { isJsonObject, type JsonObject, jsonTypeOf } from '../../metrics/family.ts';
import type { ReportDrop } from '../../metrics/samples.ts';
import { epochMilliseconds } from '../../metrics/units.ts';
import { RequestError, SchemaError } from '../../runtime/errors.ts';

/** The most records of a series in one response, a week by the minute: they are read in one turn of the event loop. */
const MAX_RECORDS = 10_000;

/** Throws a ShapeError if the response is not a series, and a RequestError `oversize` if its period has to be shorter. */
export function checkSeries(body: unknown): void {
  const { length } = requireItems(body, 'the series');
  if (length > MAX_RECORDS)
    throw new RequestError(
      'oversize',
      `The response contains ${length} records; ${MAX_RECORDS} at most are read at once.`,
    );
}

/**
 * The records of a series' answer, newest first, because the order of `items` is not guaranteed. Notes and skips
 * records without a readable time, and of several with one time all but the last. `num_cores`, which is beside `items`,
 * becomes the last record; other fields beside `items` are ignored. Throws a ShapeError if the answer is not a series.
 *
 * Runs in one turn of the event loop: {@link checkSeries} bounds the number of records.
 */
export function newestFirst(body: unknown, note: ReportDrop): readonly JsonObject[] {
  const byTime = new Map<number, JsonObject>();
  for (const [index, record] of requireItems(body, 'the series').entries()) {
    const time = isJsonObject(record) ? recordTime(record) : undefined;
    if (time === undefined || !isJsonObject(record)) {
      note('record', `items[${index}].time`);
      continue;
    }
    if (byTime.has(time)) note('duplicate', `items[${index}].time`);
    byTime.set(time, record);
  }
  const records = [...byTime].sort(([one], [other]) => other - one).map(([, record]) => record);
  const { num_cores } = body as JsonObject;
  return num_cores === undefined || num_cores === null ? records : [...records, { num_cores }];
}

export function recordTime({ time }: JsonObject): number | undefined {
  return epochMilliseconds.read(time);
}

/** Throws a ShapeError if the answer has no such list; `what` names the answer in its message. */
export function requireItems(body: unknown, what: string, list = 'items'): readonly unknown[] {
  const items = requireObject(body, what)[list];
  if (!Array.isArray(items))
    throw new SchemaError(`reading ${what}: ${list}: expected a list, got ${jsonTypeOf(items)}`);
  return items;
}

/** Like {@link requireItems}, for answers in which an empty list may be missing. */
export function itemsOrEmpty(body: unknown, what: string): readonly unknown[] {
  return isJsonObject(body) && (body.items === undefined || body.items === null) ? [] : requireItems(body, what);
}

/** Notes and skips other values. Without `list` it is `items`, which may be missing if empty. Throws a ShapeError. */
export function* iterateRecords(body: unknown, what: string, note: ReportDrop, list?: string): Generator<JsonObject> {
  const items = list === undefined ? itemsOrEmpty(body, what) : requireItems(body, what, list);
  for (const [index, record] of items.entries()) {
    if (isJsonObject(record)) yield record;
    else note('record', `${what} ${list ?? 'items'}[${index}]`);
  }
}

export async function collectAll(
  records: AsyncIterable<JsonObject> | Iterable<JsonObject>,
): Promise<readonly JsonObject[]> {
  const all: JsonObject[] = [];
  for await (const record of records) all.push(record);
  return all;
}

/** Empty if it is not an object. */
export function objectOrEmpty(value: unknown): JsonObject {
  return isJsonObject(value) ? value : {};
}

/** The objects of a list; empty if it is not a list. */
export function objectsOrEmpty(list: unknown): readonly JsonObject[] {
  return Array.isArray(list) ? list.filter(isJsonObject) : [];
}

export function requireObject(body: unknown, what: string): JsonObject {
  if (!isJsonObject(body)) throw new SchemaError(`reading ${what}: expected a JSON object, got ${jsonTypeOf(body)}`);
  return body;
}
