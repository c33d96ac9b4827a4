/** Why a request failed; the value of the label `code` if there was no HTTP status. */
export type RequestErrorReason = 'timeout' | 'network' | 'invalid' | 'oversize' | 'status' | 'aborted';

/** A request without a usable answer. Its message never has headers, tokens or bodies; `status`: if there was an answer. */
export class RequestError extends Error {
  override readonly name = 'RequestError';
  readonly reason: RequestErrorReason;
  readonly status: number | undefined;

  constructor(
    fault: RequestErrorReason,
    message: string,
    details: { readonly cause?: unknown; readonly status?: number } = {},
  ) {
    super(message, details);
    this.reason = fault;
    this.status = details.status;
  }

  /** The value of the label `code` of `filer_exporter_requests_total`. */
  get code(): string {
    return this.status === undefined ? this.reason : String(this.status);
  }
}

/** The answer is complete and valid JSON, but does not have the documented shape. */
export class SchemaError extends Error {
  override readonly name = 'ShapeError';
}

/** The credentials were rejected, or the token service is unavailable: no other request to that API can succeed now. */
export class CredentialError extends Error {
  override readonly name = 'CredentialError';
  /**
   * Monotonic milliseconds. Until then no request is sent and every caller gets this error; undefined without a pause.
   */
  readonly pausedUntil: number | undefined;

  constructor(message: string, details: { readonly cause?: Error; readonly pausedUntil?: number } = {}) {
    super(message, details);
    this.pausedUntil = details.pausedUntil;
  }
}

/** The program was about to send a request that is not allowed: always a bug. */
export class ForbiddenRequestError extends Error {
  override readonly name = 'ForbiddenRequestError';
}

/** Faults in the configuration, one line each, without secrets. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError';
  readonly faults: readonly string[];

  constructor(faults: readonly string[]) {
    super(faults.join('\n'));
    this.faults = faults;
  }
}

export function httpStatusOf(error: unknown): number | undefined {
  return error instanceof RequestError ? error.status : undefined;
}

/** Returns any thrown value as an Error. Never throws: some objects cannot be converted to a string. */
export function asError(thrown: unknown): Error {
  if (thrown instanceof Error) return thrown;
  try {
    return new Error(String(thrown));
  } catch {
    return new Error(`a value of type ${typeof thrown} without a message was thrown`);
  }
}

/** The code of an error of the system or of Node, such as `EACCES`; undefined without one. */
export function errorCode(error: unknown): string | undefined {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : undefined;
}

/** For a file that may be missing: undefined then; throws any other error. */
export function ignoreNotFound(error: unknown): undefined {
  if (errorCode(error) !== 'ENOENT') throw error;
}
