import type { Labels } from '../metrics/family.ts';
import { shortenLabel } from '../metrics/label-value.ts';
import { getOrCreate } from '../runtime/maps.ts';
import type { QueuedBin } from './queue.ts';
import type { Point, TimeSeries } from './write-request.ts';

/** The points of some bins by their time series. `added` are the labels of every series. */
export function timeSeriesOf(bins: readonly QueuedBin[], added: Labels): readonly TimeSeries[] {
  const byKey = new Map<string, TimeSeries & { readonly points: Point[] }>();
  for (const { at, samples } of bins) {
    for (const { name, labels, value } of samples) {
      const { points } = getOrCreate(byKey, JSON.stringify([name, labels]), () => {
        return { labels: sortedLabels(name, labels, added), points: [] };
      });
      // A receiver rejects a series that has two points of one time.
      if (points.at(-1)?.at !== at) points.push({ at, value });
    }
  }
  return [...byKey.values()];
}

/**
 * Labels as the protocol requires, sorted by name and none empty, and with the values that `/metrics` shows. Three loops,
 * because an object of all labels would cost most of the time of a request.
 */
function sortedLabels(name: string, own: Labels, added: Labels): TimeSeries['labels'] {
  const labels: (readonly [name: string, value: string])[] = [['__name__', name]];
  for (const label in own) if (own[label]) labels.push([label, shortenLabel(own[label])]);
  for (const label in added) if (added[label] && own[label] === undefined) labels.push([label, added[label]]);
  return labels.sort(([one], [other]) => (one < other ? -1 : 1));
}
