import { BinaryWriter, WireType } from '@bufbuild/protobuf/wire';

/**
 * The two messages of the Prometheus remote-write protocol, written field by field: `prometheus.WriteRequest` of 1.0
 * and `io.prometheus.write.v2.Request` of 2.0. The package writes the wire format; generated classes would create an
 * object for every point.
 */

/** Points of one series, oldest first. */
export interface SeriesPoints {
  /** Sorted by name, including `__name__`. */
  readonly labels: readonly (readonly [name: string, value: string])[];
  /** In milliseconds since the Unix epoch. */
  readonly times: readonly number[];
  readonly values: readonly number[];
}

export type ProtocolVersion = '1.0' | '2.0';

export function encode(version: ProtocolVersion, series: readonly SeriesPoints[]): Uint8Array {
  return version === '1.0' ? writeRequest(series) : requestV2(series);
}

function writeRequest(series: readonly SeriesPoints[]): Uint8Array {
  const writer = new BinaryWriter();
  for (const { labels, times, values } of series) {
    writer.tag(1, WireType.LengthDelimited).fork();
    for (const [name, value] of labels) {
      writer.tag(1, WireType.LengthDelimited).fork();
      writer.tag(1, WireType.LengthDelimited).string(name);
      writer.tag(2, WireType.LengthDelimited).string(value);
      writer.join();
    }
    writeSamples(writer, times, values);
    writer.join();
  }
  return writer.finish();
}

/** `MetricType.METRIC_TYPE_GAUGE` of 2.0: every series with a history is a gauge. */
const GAUGE = 2;

function requestV2(series: readonly SeriesPoints[]): Uint8Array {
  // The protocol requires the empty string first.
  const symbols = new Map<string, number>([['', 0]]);
  const reference = (text: string) => {
    const known = symbols.get(text);
    if (known !== undefined) return known;
    symbols.set(text, symbols.size);
    return symbols.size - 1;
  };
  const body = new BinaryWriter();
  for (const { labels, times, values } of series) {
    body.tag(5, WireType.LengthDelimited).fork();
    body.tag(1, WireType.LengthDelimited).fork();
    for (const [name, value] of labels) body.uint32(reference(name)).uint32(reference(value));
    body.join();
    writeSamples(body, times, values);
    body.tag(5, WireType.LengthDelimited).fork();
    body.tag(1, WireType.Varint).int32(GAUGE);
    body.join();
    body.join();
  }
  const writer = new BinaryWriter();
  for (const text of symbols.keys()) writer.tag(4, WireType.LengthDelimited).string(text);
  return writer.raw(body.finish()).finish();
}

/** The field `samples` has the same number and shape in both versions. */
function writeSamples(writer: BinaryWriter, times: readonly number[], values: readonly number[]): void {
  for (const [index, time] of times.entries()) {
    writer.tag(2, WireType.LengthDelimited).fork();
    writer.tag(1, WireType.Bit64).double(values[index] ?? Number.NaN);
    writer.tag(2, WireType.Varint).int64(time);
    writer.join();
  }
}
