/**
 * The purpose of a request, because a status may mean different things. `read`: it changes nothing and is about the
 * account. `series`: it reads a period of one object. `events`: it may consume the events that it returns. `token`: it
 * sends credentials.
 */
export type RequestPurpose = 'read' | 'series' | 'events' | 'token';

/** Why a request failed. It is the value of the label `code` if there was no HTTP status. */
export type RequestErrorReason = 'timeout' | 'network' | 'invalid' | 'oversize' | 'status' | 'aborted';

/** What the reason and the status do not say: a row of `contract/causes.ts`. */
export type Problem =
  | 'dns'
  | 'authority'
  | 'certificate'
  | 'tls'
  | 'proxy'
  | 'proxy_credentials'
  | 'page'
  | 'redirect'
  | 'memory'
  | 'long_list';

/**
 * A request failed. The message never contains headers, tokens or bodies; `status` is set if there was a response, and
 * `said` if the service explains it.
 */
export class RequestError extends Error {
  override readonly name = 'RequestError';
  readonly reason: RequestErrorReason;
  readonly status: number | undefined;
  readonly problem: Problem | undefined;
  /** What the request was for, which the client knows: it decides what the failure means. */
  purpose: RequestPurpose;
  readonly said: string | undefined;

  constructor(
    reason: RequestErrorReason,
    message: string,
    details: {
      readonly cause?: unknown;
      readonly status?: number;
      readonly problem?: Problem | undefined;
      readonly purpose?: RequestPurpose;
      readonly said?: string | undefined;
    } = {},
  ) {
    super(message, details);
    this.reason = reason;
    this.status = details.status;
    this.problem = details.problem;
    this.purpose = details.purpose ?? 'read';
    this.said = details.said;
  }

  /** The value of the label `code` of `filer_exporter_requests_total`. */
  get code(): string {
    return this.status === undefined ? this.reason : String(this.status);
  }
}

/** A request was not sent, because the service returns 429 for this appliance alone. Its task has not failed: it waits. */
export class PostponedError extends Error {
  override readonly name = 'PostponedError';
  /** When the next request about the appliance may be sent, in monotonic milliseconds. */
  readonly until: number;

  constructor(message: string, until: number) {
    super(message);
    this.until = until;
  }
}

/** The response is complete and valid JSON, but does not match the documented schema. */
export class SchemaError extends Error {
  override readonly name = 'SchemaError';
}

/** The credentials were rejected, or no token could be obtained: no request to that service can succeed now. */
export class CredentialError extends Error {
  override readonly name = 'CredentialError';
  /**
   * Until this time no request is sent and every caller gets this error; undefined if the next request is sent. In
   * monotonic milliseconds.
   */
  readonly pausedUntil: number | undefined;

  constructor(message: string, details: { readonly cause?: Error; readonly pausedUntil?: number } = {}) {
    super(message, details);
    this.pausedUntil = details.pausedUntil;
  }
}

/** The program was about to send a request that is not allowed, which is always a bug. */
export class ForbiddenRequestError extends Error {
  override readonly name = 'ForbiddenRequestError';
}

/** The configuration has errors: one line each, without secrets. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError';
  readonly errors: readonly string[];

  constructor(errors: readonly string[]) {
    super(errors.join('\n'));
    this.errors = errors;
  }
}

export function httpStatusOf(error: unknown): number | undefined {
  return error instanceof RequestError ? error.status : undefined;
}

/** Returns any thrown value as an Error. It never throws, although some objects cannot be converted to a string. */
export function asError(thrown: unknown): Error {
  if (thrown instanceof Error) return thrown;
  try {
    return new Error(String(thrown));
  } catch {
    return new Error(`a value of type ${typeof thrown} without a message was thrown`);
  }
}

/** The code of an error of the system or of Node, such as `EACCES`; undefined if it has no code. */
export function errorCode(error: unknown): string | undefined {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : undefined;
}

/** A catch handler for files that may be missing: returns undefined for ENOENT and throws every other error. */
export function ignoreNotFound(error: unknown): undefined {
  if (errorCode(error) !== 'ENOENT') throw error;
}
