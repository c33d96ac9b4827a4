import { isJsonObject, type JsonObject, jsonTypeOf } from '../../metrics/family.ts';
import type { ReportDrop } from '../../metrics/samples.ts';
import { date } from '../../metrics/units.ts';
import { SchemaError } from '../../runtime/errors.ts';
import { GROUPS, type Group } from './families.ts';

/** A response of `GET /data` with its envelope checked; the records are as the service sent them. */
export interface DataResponse {
  readonly info: JsonObject;
  /** `request_time` in Unix seconds; undefined if it cannot be read. */
  readonly at: number | undefined;
  readonly groups: Readonly<Record<Group, readonly JsonObject[]>>;
}

/** Reports and skips records that are not objects. Throws a SchemaError as {@link requireEnvelope} does. */
export function parseDataResponse(body: unknown, reportDrop: ReportDrop): DataResponse {
  const { info, objects } = requireEnvelope(body);
  const groups: Record<Group, JsonObject[]> = { filers: [], volumes: [], locks: [], propagation: [] };
  for (const [object, lists] of objects.entries()) {
    for (const [group, list] of lists) {
      // An index loop takes a third of the time of entries(), and one event-loop turn may read hundreds of thousands of
      // records.
      for (let index = 0; index < list.length; index += 1) {
        const record = list[index];
        if (isJsonObject(record)) groups[group].push(record);
        else reportDrop('record', `metrics[${object}].${group}[${index}]`);
      }
    }
  }
  return { info, at: date.read(info.request_time), groups };
}

/** Throws a SchemaError if the body is not a response of `GET /data`. `metrics` may be one object or a list; a group may be empty, null or missing. */
export function requireEnvelope(body: unknown) {
  if (!isJsonObject(body)) throw new SchemaError(`reading GET /data: expected a JSON object, got ${jsonTypeOf(body)}`);
  const { info, metrics } = body;
  if (!isJsonObject(info))
    throw new SchemaError(`reading GET /data: info: expected an object, got ${jsonTypeOf(info)}`);
  const objects = (Array.isArray(metrics) ? metrics : [metrics]).map((part: unknown, index) => {
    if (isJsonObject(part)) return GROUPS.map((group) => [group, listOf(part[group], group)] as const);
    throw new SchemaError(`reading GET /data: metrics[${index}]: expected an object, got ${jsonTypeOf(part)}`);
  });
  return { info, objects };
}

function listOf(value: unknown, group: Group): readonly unknown[] {
  if (value === undefined || value === null) return [];
  if (Array.isArray(value)) return value;
  throw new SchemaError(`reading GET /data: ${group}: expected a list, got ${jsonTypeOf(value)}`);
}
