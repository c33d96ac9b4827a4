import type { ReceiverResponse, Send } from '../../src/history/sender.ts';
import type { TimeSeries } from '../../src/history/write-request.ts';
import { getOrCreate } from '../../src/runtime/maps.ts';

type Request = readonly TimeSeries[];

/** What a receiver does instead of accepting a request; an Error is a connection that breaks. */
interface Fault {
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
  fault: ((request: Request) => Fault | undefined) | undefined;
  requests: Request[] = [];

  constructor(hasWindow: boolean, now: () => number) {
    this.#hasWindow = hasWindow;
    this.#now = now;
  }

  readonly send: Send = async (request) => {
    this.requests.push(request);
    const fault = this.fault?.(request);
    const rejection = this.#rejectionOf(request);
    if (rejection === undefined && (fault === undefined || fault.stores)) this.#store(request);
    const response = fault?.response ?? rejection ?? status(204);
    if (response instanceof Error) throw response;
    return response;
  };

  #rejectionOf(request: Request): ReceiverResponse | undefined {
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

  #store(request: Request): void {
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

export function keyOf(labels: TimeSeries['labels']): string {
  return labels.map(([name, value]) => `${name}=${value}`).join(',');
}
