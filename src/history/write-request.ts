import { BinaryWriter, WireType } from '@bufbuild/protobuf/wire';
import { compress } from 'snappyjs';

/**
 * `prometheus.WriteRequest` of the remote-write protocol 1.0, which every receiver knows, written field by field. The
 * package writes the wire format; generated classes would create an object for every point.
 */

/** Points of one series, oldest first. */
export interface TimeSeries {
  /** Sorted by name, including `__name__`. */
  readonly labels: readonly (readonly [name: string, value: string])[];
  /** In milliseconds since the Unix epoch. */
  readonly times: readonly number[];
  readonly values: readonly number[];
}

/** Yields the compressed body of a request. */
export function* writeRequest(series: Iterable<TimeSeries>): Generator<void, Uint8Array> {
  const writer = new BinaryWriter();
  for (const { labels, times, values } of series) {
    writer.tag(1, WireType.LengthDelimited).fork();
    for (const [name, value] of labels) {
      writer.tag(1, WireType.LengthDelimited).fork();
      writer.tag(1, WireType.LengthDelimited).string(name);
      writer.tag(2, WireType.LengthDelimited).string(value);
      writer.join();
    }
    for (const [index, time] of times.entries()) {
      writer.tag(2, WireType.LengthDelimited).fork();
      writer.tag(1, WireType.Bit64).double(values[index] ?? Number.NaN);
      writer.tag(2, WireType.Varint).int64(time);
      writer.join();
    }
    writer.join();
    yield;
  }
  const bytes = writer.finish();
  yield;
  return compress(bytes);
}
