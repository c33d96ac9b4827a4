import { BinaryReader } from '@bufbuild/protobuf/wire';
import { uncompress } from 'snappyjs';
import type { ReceiverResponse, Send } from '../../src/history/sender.ts';
import { getOrCreate } from '../../src/runtime/maps.ts';

/** A series as it came over the wire. */
export interface Received {
  readonly labels: Readonly<Record<string, string>>;
  readonly points: readonly { readonly at: number; readonly value: number }[];
}

/** What a receiver does instead of accepting a request; an Error is a connection that breaks. */
export interface Fault {
  readonly response: ReceiverResponse | Error;
  /** Whether the receiver stores the request all the same. */
  readonly stores?: boolean;
}

const HOUR_MS = 3_600_000;

/**
 * A receiver of remote write in memory. With an out-of-order window it accepts all. Without one it is a Prometheus that
 * scrapes: it rejects a whole request for one point that is an hour old, or older than the newest one of its series.
 */
export class Receiver {
  readonly #hasWindow: boolean;
  readonly #now: () => number;
  /** The values of each series by time. */
  readonly series = new Map<string, Map<number, number>>();
  readonly #newest = new Map<string, number>();
  fault: ((request: readonly Received[]) => Fault | undefined) | undefined;
  requests: (readonly Received[])[] = [];

  constructor(hasWindow: boolean, now: () => number) {
    this.#hasWindow = hasWindow;
    this.#now = now;
  }

  readonly send: Send = async (_headers, body) => {
    const request = decode(body);
    this.requests.push(request);
    const fault = this.fault?.(request);
    const rejection = this.#rejectionOf(request);
    if (rejection === undefined && (fault === undefined || fault.stores)) this.#store(request);
    const response = fault?.response ?? rejection ?? status(204);
    if (response instanceof Error) throw response;
    return response;
  };

  #rejectionOf(request: readonly Received[]): ReceiverResponse | undefined {
    if (this.#hasWindow) return undefined;
    for (const { labels, points } of request) {
      const newest = this.#newest.get(keyOf(labels)) ?? 0;
      for (const { at } of points) {
        if (at < this.#now() - HOUR_MS) return status(400, 'out of bounds\n');
        if (at < newest) return status(400, 'out of order sample\n');
      }
    }
    return undefined;
  }

  #store(request: readonly Received[]): void {
    for (const { labels, points } of request) {
      const key = keyOf(labels);
      const values = getOrCreate(this.series, key, () => new Map<number, number>());
      for (const { at, value } of points) {
        values.set(at, value);
        this.#newest.set(key, Math.max(at, this.#newest.get(key) ?? 0));
      }
    }
  }
}

export function status(code: number, text = '', headers: Readonly<Record<string, string>> = {}): ReceiverResponse {
  return { status: code, headers, text, said: text.trim() };
}

export function keyOf(labels: Readonly<Record<string, string>>): string {
  return Object.entries(labels)
    .map(([name, value]) => `${name}=${value}`)
    .join(',');
}

function decode(body: Uint8Array): readonly Received[] {
  const reader = new BinaryReader(uncompress(body));
  const request: Received[] = [];
  readFields(reader, reader.len, () => {
    const labels: Record<string, string> = {};
    const points: { at: number; value: number }[] = [];
    readMessage(reader, (field) => {
      if (field === 1) readLabel(reader, labels);
      else points.push(readPoint(reader));
    });
    request.push({ labels, points });
  });
  return request;
}

function readLabel(reader: BinaryReader, labels: Record<string, string>): void {
  const pair = ['', ''];
  readMessage(reader, (field) => {
    pair[field - 1] = reader.string();
  });
  labels[pair[0] ?? ''] = pair[1] ?? '';
}

function readPoint(reader: BinaryReader): { readonly at: number; readonly value: number } {
  let [value, at] = [0, 0];
  readMessage(reader, (field) => {
    if (field === 1) value = reader.double();
    else at = Number(reader.int64());
  });
  return { at, value };
}

function readMessage(reader: BinaryReader, read: (field: number) => void): void {
  readFields(reader, reader.uint32() + reader.pos, read);
}

function readFields(reader: BinaryReader, end: number, read: (field: number) => void): void {
  while (reader.pos < end) {
    const [field] = reader.tag();
    read(field);
  }
}
