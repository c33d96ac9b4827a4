import { expect } from 'vitest';
import type { MemoryReceiver } from './memory-receiver.ts';
import { differences, MINUTE_MS, type Play, type Points } from './play.ts';

/** The series of the stories: one point for each bin. */
export const ONE_SERIES = ['cpu_utilization'];

/**
 * Holds the promise of docs/history.md: delivered and told as lost together are what the portal holds, from one moment up to
 * the newest that has arrived, bin by bin; and nothing arrived that the portal does not hold. `neverHeld`: how many bins
 * before it joined an appliance may tell as lost, because the portal rejects the question. Resolves with how many were lost.
 */
export async function expectTold(
  play: Play,
  receiver: MemoryReceiver,
  from: number,
  { binMs = MINUTE_MS, neverHeld = 0 } = {},
): Promise<number> {
  const newest = Math.max(...[...receiver.points.values()].flatMap((points) => [...points.keys()]));
  const truth = within(await play.truth(from, newest), () => true);
  const arrivals = within(receiver.points, (time) => time >= from);
  // The newest bins of an appliance may have to wait for its next report.
  for (const [series, points] of truth) {
    const last = Math.max(...(arrivals.get(series)?.keys() ?? []), from);
    for (const time of points.keys()) if (time > last) points.delete(time);
    if (points.size === 0) truth.delete(series);
    expect(newest - last, `up to date: ${series}`).toBeLessThan(20 * MINUTE_MS + 2 * binMs);
  }
  expect(truth.size).toBeGreaterThan(0);
  const faults = differences(truth, arrivals);
  const wrong = faults.filter((fault) => !fault.startsWith('missing'));
  expect(wrong.slice(0, 5)).toEqual([]);
  const missing = faults.length - wrong.length;
  const told = Object.values(play.counts.lost).reduce((sum, seconds) => sum + seconds, 0) / (binMs / 1000);
  const some = faults.slice(0, 5).join('\n');
  expect(missing, `not told as lost: ${some}`).toBeLessThanOrEqual(told);
  expect(told, `told as lost, but held: ${some}`).toBeLessThanOrEqual(missing + neverHeld);
  return missing;
}

function within(points: Points, isIn: (time: number) => boolean): Points {
  return new Map([...points].map(([series, all]) => [series, new Map([...all].filter(([time]) => isIn(time)))]));
}
