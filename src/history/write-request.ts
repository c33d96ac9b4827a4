import { BinaryWriter, WireType } from '@bufbuild/protobuf/wire';
import { compress } from 'snappyjs';
import type { Labels } from '../metrics/family.ts';
import { shortenLabel } from '../metrics/label-value.ts';
import { getOrCreate } from '../runtime/maps.ts';
import type { QueuedBin } from './cursors.ts';

/** Points of one time series, oldest first. */
export interface TimeSeries {
  /** Sorted by name, including `__name__`. */
  readonly labels: readonly (readonly [name: string, value: string])[];
  /** Times are in milliseconds since the Unix epoch. */
  readonly points: { readonly at: number; readonly value: number }[];
}

export const HEADERS = {
  'content-type': 'application/x-protobuf',
  'content-encoding': 'snappy',
  'x-prometheus-remote-write-version': '0.1.0',
} as const;

/** The points of some bins by their time series. `added` are the labels of every series. */
export function timeSeriesOf(bins: readonly QueuedBin[], added: Labels): readonly TimeSeries[] {
  const byKey = new Map<string, TimeSeries>();
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

/**
 * Returns the compressed body of a request: `prometheus.WriteRequest` of the remote-write protocol 1.0, which every receiver
 * knows. It is written field by field, because generated classes would create an object for every point.
 */
export function writeRequest(series: Iterable<TimeSeries>): Uint8Array {
  const writer = new BinaryWriter();
  for (const { labels, points } of series) {
    writer.tag(1, WireType.LengthDelimited).fork();
    for (const [name, value] of labels) {
      writer.tag(1, WireType.LengthDelimited).fork();
      writer.tag(1, WireType.LengthDelimited).string(name);
      writer.tag(2, WireType.LengthDelimited).string(value);
      writer.join();
    }
    for (const { at, value } of points) {
      writer.tag(2, WireType.LengthDelimited).fork();
      writer.tag(1, WireType.Bit64).double(value);
      writer.tag(2, WireType.Varint).int64(at);
      writer.join();
    }
    writer.join();
  }
  return compress(writer.finish());
}
