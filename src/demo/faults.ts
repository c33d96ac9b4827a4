/** The requests that a fault applies to; by default all requests of both services. */
export interface FaultScope {
  /** An operation's name, or a pattern that it must match. */
  readonly operation?: string | RegExp;
  /** Limits the fault to telemetry of this appliance. */
  readonly serial?: string;
  /** The number of requests after which the fault ends; unlimited by default. */
  readonly times?: number;
}

/** How a fault changes a response. */
export type FaultEffect =
  | {
      readonly kind: 'status';
      readonly status: number;
      readonly headers?: Readonly<Record<string, string>>;
      /** By default the error body of the service. */
      readonly body?: string | Buffer;
    }
  /** The connection is closed before a response. */
  | { readonly kind: 'reset' }
  /** The service sends the headers and half of the body, and closes the connection. */
  | { readonly kind: 'cut' }
  /** The service sends no response, and the connection stays open. */
  | { readonly kind: 'hang' }
  /** The headers and half of the body, then no more bytes; the connection stays open. */
  | { readonly kind: 'hang-body' }
  /** The service sends one byte of the body per second. */
  | { readonly kind: 'drip' }
  /** Status 200 with another body. */
  | {
      readonly kind: 'body';
      readonly body: string | Buffer;
      readonly contentType?: string;
      readonly headers?: Readonly<Record<string, string>>;
    };

/** A fault: what happens, to which requests, and how often. */
export type SimulatedFailure = FaultScope & FaultEffect;

/** The active faults; the oldest one that matches a request applies. */
export class Faults {
  readonly #left = new Map<symbol, { readonly fault: SimulatedFailure; readonly times: number }>();

  /** Adds a fault, and returns the function that removes it. */
  add(fault: SimulatedFailure): () => void {
    const name = Symbol(fault.kind);
    this.#left.set(name, { fault, times: fault.times ?? Number.POSITIVE_INFINITY });
    return () => {
      this.#left.delete(name);
    };
  }

  /** The fault that applies to a request, which counts as one of its times. */
  take(operation: string, serial: string | undefined): SimulatedFailure | undefined {
    for (const [name, { fault, times }] of this.#left) {
      if (times < 1 || !matches(fault, operation, serial)) continue;
      if (times > 1) this.#left.set(name, { fault, times: times - 1 });
      else this.#left.delete(name);
      return fault;
    }
    return undefined;
  }
}

function matches(fault: FaultScope, operation: string, serial: string | undefined): boolean {
  if (fault.serial !== undefined && fault.serial !== serial) return false;
  if (fault.operation === undefined) return true;
  // `search` rather than `test`: a pattern with the flag `g` keeps its position between calls.
  return typeof fault.operation === 'string' ? fault.operation === operation : operation.search(fault.operation) !== -1;
}
