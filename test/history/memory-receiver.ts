import { BinaryReader } from '@bufbuild/protobuf/wire';
import { uncompress } from 'snappyjs';
import type { Send } from '../../src/history/delivery.ts';
import type { PostResponse } from '../../src/transport/post.ts';

/** A series as it came over the wire. */
export interface Received {
  readonly labels: Readonly<Record<string, string>>;
  readonly samples: readonly (readonly [time: number, value: number])[];
}

/** Decodes the body of a request. */
export function received(body: Uint8Array): readonly Received[] {
  const reader = new BinaryReader(uncompress(body));
  const series: Received[] = [];
  readFields(reader, reader.len, () => {
    const labels: Record<string, string> = {};
    const samples: (readonly [number, number])[] = [];
    readMessage(reader, (field) => {
      if (field === 1) readLabel(reader, labels);
      else samples.push(readSample(reader));
    });
    series.push({ labels, samples });
  });
  return series;
}

function readLabel(reader: BinaryReader, labels: Record<string, string>): void {
  const pair = ['', ''];
  readMessage(reader, (field) => {
    pair[field - 1] = reader.string();
  });
  labels[pair[0] ?? ''] = pair[1] ?? '';
}

function readSample(reader: BinaryReader): readonly [time: number, value: number] {
  let [time, value] = [0, 0];
  readMessage(reader, (field) => {
    if (field === 1) value = reader.double();
    else time = Number(reader.int64());
  });
  return [time, value];
}

function readMessage(reader: BinaryReader, read: (field: number) => void): void {
  readFields(reader, reader.uint32() + reader.pos, read);
}

function readFields(reader: BinaryReader, end: number, read: (field: number) => void): void {
  while (reader.pos < end) {
    const [field] = reader.tag();
    if (field > 2) throw new Error(`unexpected field ${field}`);
    read(field);
  }
}

/**
 * `takes all`: whatever comes, as VictoriaMetrics and a Prometheus with an out-of-order window. `stock`: a Prometheus that
 * scrapes, so it rejects what is an hour older than now, and each series' order counts. `alone`: a Prometheus that scrapes
 * nothing, so the hour counts from its newest point.
 */
export type ReceiverKind = 'takes all' | 'stock' | 'alone';

/** What a receiver holds of one series, by minute. */
export interface Held {
  newest: number;
  readonly times: Map<number, number>;
}

/** A receiver in memory, which stores a request of one of the two Prometheus whole or not at all. */
export class MemoryReceiver {
  readonly kind: ReceiverKind;
  readonly now: () => number;
  readonly series = new Map<string, Held>();
  newest = Number.NEGATIVE_INFINITY;
  requests = 0;
  rejected = 0;
  /** Points that came again with the same time. */
  repeated = 0;
  readonly seen: (readonly Received[])[] = [];
  keepsRequests = false;
  /** A request is taken, or not, and its response never comes. */
  hangs: 'taken' | 'lost' | undefined;
  /** What is returned instead of taking a request; undefined takes it. */
  answer: ((series: readonly Received[]) => PostResponse | Error | undefined) | undefined;

  constructor(kind: ReceiverKind = 'takes all', now: () => number = () => 0) {
    this.kind = kind;
    this.now = now;
  }

  readonly send: Send = (_headers, body) => {
    const series = received(body);
    if (this.hangs === 'taken' && this.#judge(series).status < 300) for (const one of series) this.#take(one);
    if (this.hangs !== undefined) return new Promise(() => {});
    const spoiled = this.answer?.(series);
    if (spoiled instanceof Error) return Promise.reject(spoiled);
    this.requests += 1;
    const answer = spoiled ?? this.#judge(series);
    if (answer.status >= 400) this.rejected += 1;
    else for (const one of series) this.#take(one);
    if (this.keepsRequests) this.seen.push(series);
    return Promise.resolve(answer);
  };

  get held(): number {
    let points = 0;
    for (const { times } of this.series.values()) points += times.size;
    return points;
  }

  #judge(series: readonly Received[]): PostResponse {
    if (this.kind === 'takes all') return { status: 204, headers: {}, text: '' };
    const oldest = (this.kind === 'stock' ? this.now() : this.newest) - 3_600_000;
    for (const { labels, samples } of series) {
      const known = this.series.get(keyOf(labels))?.newest ?? Number.NEGATIVE_INFINITY;
      for (const [time] of samples) {
        if (time < oldest) return { status: 400, headers: {}, text: 'out of bounds\n' };
        if (time < known) return { status: 400, headers: {}, text: 'out of order sample\n' };
      }
    }
    return { status: 204, headers: {}, text: '' };
  }

  #take({ labels, samples }: Received): void {
    const key = keyOf(labels);
    const held = this.series.get(key) ?? { newest: 0, times: new Map<number, number>() };
    this.series.set(key, held);
    for (const [time, value] of samples) {
      if (held.times.has(time)) this.repeated += 1;
      held.times.set(time, value);
      held.newest = Math.max(held.newest, time);
      this.newest = Math.max(this.newest, time);
    }
  }
}

export function keyOf(labels: Readonly<Record<string, string>>): string {
  return Object.keys(labels)
    .sort((one, other) => (one < other ? -1 : 1))
    .map((name) => `${name}=${labels[name]}`)
    .join(',');
}
