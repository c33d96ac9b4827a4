import type { RequestListener } from 'node:http';
import { buffer } from 'node:stream/consumers';
import { BinaryReader } from '@bufbuild/protobuf/wire';
import { uncompress } from 'snappyjs';
import type { Send } from '../../src/history/delivery.ts';
import type { Labels } from '../../src/metrics/family.ts';
import { getOrCreate } from '../../src/runtime/maps.ts';
import type { PostResponse } from '../../src/transport/post.ts';
import { going } from '../support/mock-api.ts';

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

/** A receiver in memory, which stores a request of one of the two Prometheus whole or not at all. */
export class Receiver {
  readonly #kind: ReceiverKind;
  readonly #now: () => number;
  /** The newest time of each series, and of all. */
  readonly #newest = new Map<string, number>();
  #newestOfAll = Number.NEGATIVE_INFINITY;
  /** The points of each series by time. */
  readonly series = new Map<string, Map<number, number>>();
  requests = 0;
  rejected = 0;
  /** Points that came again with the same time. */
  repeated = 0;
  /** A request is taken, or not, and its response never comes. */
  hangs: 'taken' | 'lost' | undefined;
  /** What is returned instead of taking a request; undefined takes it. */
  answer: ((series: readonly Received[]) => PostResponse | Error | undefined) | undefined;

  constructor(kind: ReceiverKind = 'takes all', now: () => number = () => 0) {
    this.#kind = kind;
    this.#now = now;
  }

  readonly send: Send = (_headers, body) => {
    const series = received(body);
    this.requests += 1;
    if (this.hangs === 'taken' && this.#judge(series).status < 300) for (const one of series) this.#take(one);
    if (this.hangs !== undefined) return new Promise(() => {});
    const spoiled = this.answer?.(series);
    if (spoiled instanceof Error) return Promise.reject(spoiled);
    const answer = spoiled ?? this.#judge(series);
    if (answer.status >= 400) this.rejected += 1;
    else for (const one of series) this.#take(one);
    return Promise.resolve(answer);
  };

  /** Keeps a point; whether there was one of that time. */
  protected keeps(labels: Received['labels'], time: number, value: number): boolean {
    const points = getOrCreate(this.series, keyOf(labels), () => new Map<number, number>());
    const isRepeated = points.has(time);
    points.set(time, value);
    return isRepeated;
  }

  #judge(series: readonly Received[]): PostResponse {
    if (this.#kind === 'takes all') return { status: 204, headers: {}, text: '' };
    const oldest = (this.#kind === 'stock' ? this.#now() : this.#newestOfAll) - 3_600_000;
    for (const { labels, samples } of series) {
      const known = this.#newest.get(keyOf(labels)) ?? Number.NEGATIVE_INFINITY;
      for (const [time] of samples) {
        if (time < oldest) return { status: 400, headers: {}, text: 'out of bounds\n' };
        if (time < known) return { status: 400, headers: {}, text: 'out of order sample\n' };
      }
    }
    return { status: 204, headers: {}, text: '' };
  }

  #take({ labels, samples }: Received): void {
    let newest = this.#newest.get(keyOf(labels)) ?? Number.NEGATIVE_INFINITY;
    for (const [time, value] of samples) {
      if (this.keeps(labels, time, value)) this.repeated += 1;
      newest = Math.max(newest, time);
    }
    this.#newest.set(keyOf(labels), newest);
    this.#newestOfAll = Math.max(this.#newestOfAll, newest);
  }
}

/** A receiver as a server; an error closes the connection. */
export function receiverServer(send: Send): RequestListener {
  return async (request, response) => {
    try {
      const { status, headers, text } = await send(request.headers as Labels, await buffer(request), going);
      response.writeHead(status, headers).end(Buffer.from(text));
    } catch {
      response.destroy();
    }
  };
}

export function keyOf(labels: Readonly<Record<string, string>>): string {
  return Object.keys(labels)
    .sort((one, other) => (one < other ? -1 : 1))
    .map((name) => `${name}=${labels[name]}`)
    .join(',');
}
