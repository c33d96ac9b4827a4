import { BinaryReader, WireType } from '@bufbuild/protobuf/wire';
import { uncompress } from 'snappyjs';
import type { Send } from '../../src/history/receiver.ts';
import type { PostAnswer } from '../../src/transport/post.ts';
import { type Points, seriesKey } from './play.ts';

/** A series as it came over the wire. */
export interface Received {
  readonly labels: readonly (readonly [string, string])[];
  readonly samples: readonly (readonly [time: number, value: number])[];
}

/** A receiver in memory that demands order, as Prometheus does: a request with one point too old is refused whole. */
export class MemoryReceiver {
  readonly points: Points = new Map();
  /** The requests that came, decoded. */
  readonly requests: { readonly headers: Readonly<Record<string, string>>; readonly series: readonly Received[] }[] =
    [];
  /** What is answered instead of taking a request; undefined takes it. */
  answer: (() => PostAnswer | Error | undefined) | undefined;

  readonly send: Send = (headers, body) => {
    const spoiled = this.answer?.();
    if (spoiled instanceof Error) return Promise.reject(spoiled);
    if (spoiled !== undefined) return Promise.resolve(spoiled);
    const series = decoded(Buffer.from(uncompress(body)));
    this.requests.push({ headers, series });
    return Promise.resolve(this.#takeAll(series));
  };

  #takeAll(series: readonly Received[]): PostAnswer {
    if (series.some((one) => one.samples.some(([time]) => time < this.#head(one)))) {
      return { status: 400, headers: {}, text: 'out of order sample\n' };
    }
    for (const one of series) this.#take(one);
    return { status: 204, headers: {}, text: '' };
  }

  #head({ labels }: Received): number {
    return Math.max(...(this.points.get(seriesKey(labels))?.keys() ?? []), Number.NEGATIVE_INFINITY);
  }

  #take({ labels, samples }: Received): void {
    const held = this.points.get(seriesKey(labels)) ?? new Map<number, number>();
    this.points.set(seriesKey(labels), held);
    for (const [time, value] of samples) if (!held.has(time)) held.set(time, value);
  }
}

/** Reads a message field by field. */
function* fieldsOf(bytes: Uint8Array): Generator<readonly [field: number, value: Uint8Array | number]> {
  const reader = new BinaryReader(bytes);
  while (reader.pos < reader.len) {
    const [field, type] = reader.tag();
    if (type === WireType.LengthDelimited) yield [field, reader.bytes()];
    else if (type === WireType.Bit64) yield [field, reader.double()];
    else if (type === WireType.Varint) yield [field, Number(reader.int64())];
    else throw new Error(`unexpected wire type ${type}`);
  }
}

const textOf = (value: Uint8Array | number) => Buffer.from(value as Uint8Array).toString('utf8');

function decoded(message: Uint8Array): readonly Received[] {
  const series: Received[] = [];
  for (const [field, bytes] of fieldsOf(message)) {
    if (field !== 1) continue;
    const labels: [string, string][] = [];
    const samples: (readonly [number, number])[] = [];
    for (const [part, value] of fieldsOf(bytes as Uint8Array)) {
      if (part === 2) samples.push(sampleOf(value as Uint8Array));
      if (part !== 1) continue;
      const texts = new Map([...fieldsOf(value as Uint8Array)].map(([key, text]) => [key, textOf(text)]));
      labels.push([texts.get(1) ?? '', texts.get(2) ?? '']);
    }
    series.push({ labels, samples });
  }
  return series;
}

function sampleOf(bytes: Uint8Array): readonly [time: number, value: number] {
  const parts = new Map(fieldsOf(bytes));
  return [Number(parts.get(2) ?? 0), Number(parts.get(1) ?? 0)];
}
