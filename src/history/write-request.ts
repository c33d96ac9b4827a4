import { BinaryWriter, WireType } from '@bufbuild/protobuf/wire';
import { compress } from 'snappyjs';

/**
 * `prometheus.WriteRequest` of the remote-write protocol 1.0, which every receiver knows, written field by field. The
 * package writes the wire format; generated classes would create an object for every point.
 */

/** Points of one time series, oldest first. */
export interface TimeSeries {
  /** Sorted by name, including `__name__`. */
  readonly labels: readonly (readonly [name: string, value: string])[];
  readonly points: readonly Point[];
}

export interface Point {
  /** In milliseconds since the Unix epoch. */
  readonly at: number;
  readonly value: number;
}

/** Returns the compressed body of a request. */
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
