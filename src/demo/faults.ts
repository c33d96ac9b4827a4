/** What a fault is about; all requests of both services when nothing is said. */
export interface FaultScope {
  /** An operation's name, or a pattern that it must match. */
  readonly operation?: string | RegExp;
  /** Only telemetry of this appliance. */
  readonly serial?: string;
  /** How many requests it spoils before it lifts itself. */
  readonly times?: number;
}

/** How an answer is spoiled. */
export type FaultEffect =
  | {
      readonly kind: 'status';
      readonly status: number;
      readonly headers?: Readonly<Record<string, string>>;
      /** The error body of the service when absent. */
      readonly body?: string | Buffer;
    }
  /** The connection is closed before an answer. */
  | { readonly kind: 'reset' }
  /** The headers and half of the body, then the connection is closed. */
  | { readonly kind: 'cut' }
  /** No answer, ever. */
  | { readonly kind: 'hang' }
  /** The headers and half of the body, then nothing, ever. */
  | { readonly kind: 'hang-body' }
  /** The body at one byte a second. */
  | { readonly kind: 'drip' }
  /** Status 200 with another body. */
  | {
      readonly kind: 'body';
      readonly body: string | Buffer;
      readonly contentType?: string;
      readonly headers?: Readonly<Record<string, string>>;
    };

/** Something that goes wrong, where, and how often. */
export type DemoFault = FaultScope & FaultEffect;

/** The faults in force; the oldest that fits a request has it. */
export class Faults {
  readonly #left = new Map<symbol, { readonly fault: DemoFault; readonly times: number }>();

  /** Adds a fault; what it returns lifts it. */
  add(fault: DemoFault): () => void {
    const name = Symbol(fault.kind);
    this.#left.set(name, { fault, times: fault.times ?? Number.POSITIVE_INFINITY });
    return () => {
      this.#left.delete(name);
    };
  }

  /** The fault that a request meets, counted. */
  take(operation: string, serial: string | undefined): DemoFault | undefined {
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
  // `search` rather than `test`: a pattern with the flag `g` would remember where it was.
  return typeof fault.operation === 'string' ? fault.operation === operation : operation.search(fault.operation) !== -1;
}
