/** Why a request brought nothing; the value of the label `code` where there was no HTTP status. */
export type RequestFault = 'timeout' | 'network' | 'invalid' | 'oversize' | 'status' | 'aborted';

/** What is known of a failed request beside its message. Never headers, tokens or bodies. */
export interface RequestErrorDetails {
  readonly cause?: unknown;
  /** The HTTP status, when there was an answer with one. */
  readonly status?: number;
}

/** A request that brought no usable answer: no connection, no time left, a bad status, or a body that cannot be read. */
export class RequestError extends Error {
  override readonly name = 'RequestError';
  readonly fault: RequestFault;
  readonly status: number | undefined;

  constructor(fault: RequestFault, message: string, details: RequestErrorDetails = {}) {
    super(message, details.cause === undefined ? {} : { cause: details.cause });
    this.fault = fault;
    this.status = details.status;
  }

  /** The value of the label `code` of `filer_exporter_requests_total`. */
  get code(): string {
    return this.status === undefined ? this.fault : String(this.status);
  }
}

/** An answer arrived whole and is JSON, but not of the documented shape. */
export class ShapeError extends Error {
  override readonly name = 'ShapeError';
}

/** The credentials were refused, or the token service cannot be used: nothing else of that API is worth asking now. */
export class CredentialError extends Error {
  override readonly name = 'CredentialError';
  /** Monotonic milliseconds: before that nothing is sent, and whoever asks gets this error; undefined without a pause. */
  readonly pausedUntil: number | undefined;

  constructor(message: string, details: { readonly cause?: Error; readonly pausedUntil?: number } = {}) {
    super(message, details.cause === undefined ? {} : { cause: details.cause });
    this.pausedUntil = details.pausedUntil;
  }
}

/** The program was about to send a request that it must never send: a defect, not a condition. */
export class ForbiddenRequestError extends Error {
  override readonly name = 'ForbiddenRequestError';
}

/** Faults in the configuration, each one line for the operator, none with a secret in it. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError';
  readonly faults: readonly string[];

  constructor(faults: readonly string[]) {
    super(faults.join('\n'));
    this.faults = faults;
  }
}

/** Whatever was thrown, as an Error. Throws nothing itself: some objects cannot be made a text of. */
export function asError(thrown: unknown): Error {
  if (thrown instanceof Error) return thrown;
  try {
    return new Error(String(thrown));
  } catch {
    return new Error(`a ${typeof thrown} without a text was thrown`);
  }
}
