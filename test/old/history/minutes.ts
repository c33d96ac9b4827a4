import { getOrCreate } from '../../src/runtime/maps.ts';
import { keyOf } from '../harness/receiver.ts';
import type { World } from '../harness/world.ts';
import { going } from '../support/mock-api.ts';
import { temporaryDirectory } from '../support/program.ts';
import { begin, through, wish } from './backfill/backfill-runs.ts';

/** Values by series and time in milliseconds. */
export type Points = Map<string, Map<number, number>>;

/** What remote write adds to each series unless it is told otherwise. */
export const LABELS = { job: 'filer-exporter-minutes' } as const;

/** A period in epoch milliseconds, both ends included, of some series; of all that have a history by default. */
interface Choice {
  readonly from: number;
  readonly to: number;
  readonly series?: readonly string[];
}

/** Every point that the portal of a world has in a period, as the tasks of `--backfill` read it in one piece. */
export async function minutesOf(world: World, { from, to, series }: Choice): Promise<Points> {
  const run = await begin(world, wish(temporaryDirectory(), { series }));
  const points: Points = new Map();
  for (const task of run.tasks) {
    const { bins } = await through(world, task.readHistory(from, to + 1, going));
    for (const { at, samples } of bins) {
      if (at < from || at > to) continue;
      for (const { name, labels, value } of samples(() => {})) {
        const line = getOrCreate(
          points,
          keyOf({ ...LABELS, ...labels, __name__: name }),
          () => new Map<number, number>(),
        );
        if (!line.has(at)) line.set(at, value);
      }
    }
  }
  await through(world, run.close(going));
  return points;
}

/** What a receiver lacks of the points, has otherwise, or has too much of. */
export function differences(points: Points, held: Points): readonly string[] {
  const found: string[] = [];
  for (const [series, line] of points) {
    const got = held.get(series) ?? new Map<number, number>();
    for (const [time, value] of line) {
      const other = got.get(time);
      if (other === undefined) found.push(`missing: ${series} at ${new Date(time).toISOString()}`);
      // VictoriaMetrics keeps fifteen digits.
      else if (Math.abs(other - value) > 1e-14 * Math.abs(value))
        found.push(`changed: ${series} at ${new Date(time).toISOString()}: ${value}, got ${other}`);
    }
    for (const time of got.keys())
      if (!line.has(time)) found.push(`too much: ${series} at ${new Date(time).toISOString()}`);
  }
  for (const series of held.keys()) if (!points.has(series)) found.push(`unknown: ${series}`);
  return found;
}
