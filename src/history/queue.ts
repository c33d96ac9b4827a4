import { firstNotBefore } from '../runtime/sorted.ts';
import type { Cursor } from './cursor.ts';
import type { SelectedPoints } from './points.ts';

/** Points of one task that wait to be sent. */
export interface TaskBatch extends SelectedPoints {
  readonly cursor: Cursor;
  /** After this batch was delivered, everything until this time has been delivered. */
  readonly seen: number;
}

/** About the bytes of a sample and its series in a request. */
const BYTES = { sample: 18, label: 8 } as const;

/** The most of one request, so that writing and compressing it holds the event loop for a few milliseconds. */
export const MAX_REQUEST = { points: 5_000, bytes: 512 * 1024 } as const;

/** The points of a batch from a time on and before another; undefined if there are none. */
export function pick(batch: TaskBatch, from: number, to: number): TaskBatch | undefined {
  const range = (times: readonly number[]) => [firstNotBefore(times, from), firstNotBefore(times, to)] as const;
  const times = batch.times.slice(...range(batch.times));
  if (times.length === batch.times.length) return batch;
  const last = times.at(-1);
  if (last === undefined) return undefined;
  let count = 0;
  const series = batch.series.flatMap(({ labels, times: all, values }) => {
    const [first, end] = range(all);
    count += end - first;
    return first === end ? [] : [{ labels, times: all.slice(first, end), values: values.slice(first, end) }];
  });
  const isNewest = last === batch.times.at(-1);
  return { cursor: batch.cursor, series, count, times, seen: isNewest ? batch.seen : Math.min(batch.seen, last) };
}

/** Batches in the order of their arrival. */
export class BatchQueue {
  readonly #batches: TaskBatch[] = [];

  add(batch: TaskBatch): void {
    this.#batches.push(batch);
  }

  /** The next batches of one kind that fit into a request; of one that is too large, its oldest part. */
  next(kindOf: (batch: TaskBatch) => unknown, maxPoints: number): readonly TaskBatch[] {
    const request: TaskBatch[] = [];
    let [points, bytes] = [0, 0];
    for (const batch of this.#batches) {
      const size = bytesOf(batch);
      const isNext = request[0] === undefined || kindOf(batch) === kindOf(request[0]);
      if (!isNext || (points > 0 && (points + batch.count > maxPoints || bytes + size > MAX_REQUEST.bytes))) break;
      request.push(batch);
      points += batch.count;
      bytes += size;
    }
    this.#batches.splice(0, request.length);
    const [only] = request;
    if (request.length !== 1 || only === undefined || only.count <= maxPoints || only.times.length === 1)
      return request;
    const share = Math.max(1, Math.floor((only.times.length * maxPoints) / only.count));
    const [older, newer] = splitAt(only, only.times[share] ?? Number.POSITIVE_INFINITY);
    if (newer !== undefined) this.#batches.unshift(newer);
    return older === undefined ? [] : [older];
  }
}

/**
 * Splits a batch into the part before a time and the part from it on. If both exist, one more batch of the task waits.
 */
export function splitAt(batch: TaskBatch, time: number): readonly [TaskBatch | undefined, TaskBatch | undefined] {
  const parts = [pick(batch, 0, time), pick(batch, time, Number.POSITIVE_INFINITY)] as const;
  if (parts[0] !== undefined && parts[1] !== undefined) batch.cursor.batches += 1;
  return parts;
}

function bytesOf({ series, count }: TaskBatch): number {
  let bytes = count * BYTES.sample;
  for (const { labels } of series)
    for (const [name, value] of labels) bytes += name.length + 3 * value.length + BYTES.label;
  return bytes;
}
