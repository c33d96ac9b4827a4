import { isJsonObject, type JsonObject, jsonTypeOf } from '../../metrics/family.ts';
import type { ReportDrop } from '../../metrics/samples.ts';
import { epochMilliseconds } from '../../metrics/units.ts';
import { RequestError, SchemaError } from '../../runtime/errors.ts';

/** The most records of one series response, a week of minutes: all are read in one event-loop turn. */
const MAX_RECORDS = 10_000;

/** Like {@link newestFirst}, but throws a RequestError `oversize` if a shorter period has to be requested. */
export function readMinutes(body: unknown, reportDrop: ReportDrop): readonly JsonObject[] {
  const { length } = requireItems(body, 'the series');
  if (length > MAX_RECORDS)
    throw new RequestError(
      'oversize',
      `The response contains ${length} records; ${MAX_RECORDS} at most are read at once.`,
    );
  return newestFirst(body, reportDrop);
}

/**
 * The records of a series response, newest first, because the order of `items` is not guaranteed. Reports and skips
 * records without a readable time; if several have the same time, the last one counts. `num_cores` stands next to `items`
 * and becomes the last record. Throws a SchemaError if the response is not a series.
 */
export function newestFirst(body: unknown, reportDrop: ReportDrop): readonly JsonObject[] {
  const byTime = new Map<number, JsonObject>();
  for (const [index, record] of requireItems(body, 'the series').entries()) {
    const time = isJsonObject(record) ? recordTime(record) : undefined;
    if (time === undefined || !isJsonObject(record)) {
      reportDrop('record', `items[${index}].time`);
      continue;
    }
    if (byTime.has(time)) reportDrop('duplicate', `items[${index}].time`);
    byTime.set(time, record);
  }
  const records = [...byTime].sort(([first], [second]) => second - first).map(([, record]) => record);
  const { num_cores } = body as JsonObject;
  return num_cores === undefined || num_cores === null ? records : [...records, { num_cores }];
}

export function recordTime({ time }: JsonObject): number | undefined {
  return epochMilliseconds.read(time);
}

/** The list in a response. Throws a SchemaError if there is none; `requestName` names the response in its message. */
function requireItems(body: unknown, requestName: string, list = 'items'): readonly unknown[] {
  const items = requireObject(body, requestName)[list];
  if (!Array.isArray(items))
    throw new SchemaError(`reading ${requestName}: ${list}: expected a list, got ${jsonTypeOf(items)}`);
  return items;
}

/** Like {@link requireItems}, but a missing list counts as empty. */
export function itemsOrEmpty(body: unknown, requestName: string): readonly unknown[] {
  return isJsonObject(body) && (body.items === undefined || body.items === null) ? [] : requireItems(body, requestName);
}

/** The objects of a list; other values are reported and skipped. The default list `items` may be missing. Throws a SchemaError if the list is none. */
export function recordsOf(
  body: unknown,
  requestName: string,
  reportDrop: ReportDrop,
  list?: string,
): readonly JsonObject[] {
  const items = list === undefined ? itemsOrEmpty(body, requestName) : requireItems(body, requestName, list);
  return items.filter((record, index): record is JsonObject => {
    const isObject = isJsonObject(record);
    if (!isObject) reportDrop('record', `${requestName} ${list ?? 'items'}[${index}]`);
    return isObject;
  });
}

/** The value, or an empty object if it is not an object. */
export function objectOrEmpty(value: unknown): JsonObject {
  return isJsonObject(value) ? value : {};
}

/** The objects of a list; empty if it is not a list. */
export function objectsOrEmpty(list: unknown): readonly JsonObject[] {
  return Array.isArray(list) ? list.filter(isJsonObject) : [];
}

export function requireObject(body: unknown, requestName: string): JsonObject {
  if (!isJsonObject(body))
    throw new SchemaError(`reading ${requestName}: expected a JSON object, got ${jsonTypeOf(body)}`);
  return body;
}
