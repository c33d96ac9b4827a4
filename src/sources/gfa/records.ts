import { type Fields, isFields, kindOf } from '../../metrics/family.ts';
import type { NoteDrop } from '../../metrics/samples.ts';
import { ShapeError } from '../../runtime/errors.ts';
import { GROUPS, type Group } from './series.ts';

/** An answer of `GET /data` with its envelope checked; the records are as the service sent them. */
export interface Answer {
  readonly info: Fields;
  readonly groups: Readonly<Record<Group, readonly Fields[]>>;
}

/**
 * Checks the envelope of an answer of `GET /data` (upstream-api.md 2.2). `metrics` may be a list of objects or one
 * object; a group may be empty, null or missing; what is not an object among its records is noted and left out.
 * Throws a ShapeError when the answer is no answer at all.
 */
export function readAnswer(body: unknown, note: NoteDrop): Answer {
  if (!isFields(body)) throw new ShapeError(`reading GET /data: expected a JSON object, got ${kindOf(body)}`);
  const { info, metrics } = body;
  if (!isFields(info)) throw new ShapeError(`reading GET /data: info: expected an object, got ${kindOf(info)}`);
  const parts = Array.isArray(metrics) ? metrics : [metrics];
  const groups: Record<Group, Fields[]> = { filers: [], volumes: [], locks: [], propagation: [] };
  for (const [index, part] of parts.entries()) {
    if (!isFields(part)) {
      throw new ShapeError(`reading GET /data: metrics[${index}]: expected an object, got ${kindOf(part)}`);
    }
    for (const group of GROUPS) {
      const list = listOf(part[group], group);
      const records = groups[group];
      // By number, for there can be hundreds of thousands and this is one turn of the event loop: entries() takes thrice as long.
      for (let place = 0; place < list.length; place += 1) {
        const record = list[place];
        if (isFields(record)) records.push(record);
        else note('record', `metrics[${index}].${group}[${place}]`);
      }
    }
  }
  return { info, groups };
}

function listOf(value: unknown, group: Group): readonly unknown[] {
  if (value === undefined || value === null) return [];
  if (Array.isArray(value)) return value;
  throw new ShapeError(`reading GET /data: ${group}: expected a list, got ${kindOf(value)}`);
}
