import type { ServiceName } from './exchange.ts';

/**
 * How a response is sent: the connection ends before it or in its middle, nothing is sent, nothing after its middle, or
 * one byte a second.
 */
export type Sending = 'reset' | 'cut' | 'hang' | 'hang-half' | 'drip';

/** What goes wrong with requests, until it is ended. Without `status` and `text` the response itself is right. */
export interface Fault {
  readonly service?: ServiceName;
  /** Compared with the path and its query, without the prefix of the service. */
  readonly path?: RegExp;
  /** The number of requests after which the fault ends by itself. */
  readonly times?: number;
  /** The status of the response; by default 200 with a `text`. */
  readonly status?: number;
  /** The message of the error; the name of the status if not given. */
  readonly message?: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** The text that is sent in place of the body. */
  readonly text?: string;
  readonly how?: Sending;
}

/** The faults of this moment. The oldest one that fits a request applies to it. */
export class Faults {
  readonly #left = new Map<Fault, number>();

  /** Returns the function that ends the fault. */
  add(fault: Fault): () => void {
    // A copy, so that the same fault can be added twice.
    const own = { ...fault };
    this.#left.set(own, fault.times ?? Number.POSITIVE_INFINITY);
    return () => {
      this.#left.delete(own);
    };
  }

  /** Returns the fault of a request, which counts as one of its times. */
  take(service: ServiceName, path: string): Fault | undefined {
    for (const [fault, left] of this.#left) {
      if (fault.service !== undefined && fault.service !== service) continue;
      // `search` instead of `test`: a pattern with the flag `g` would remember where it stopped.
      if (fault.path !== undefined && path.search(fault.path) === -1) continue;
      if (left > 1) this.#left.set(fault, left - 1);
      else this.#left.delete(fault);
      return fault;
    }
    return undefined;
  }
}
