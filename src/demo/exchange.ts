import { STATUS_CODES } from 'node:http';

export type ServiceName = 'gfa' | 'portal';

/** A request, as it arrived. */
export interface DemoRequest {
  readonly method: string;
  /** Without the prefix of the service, with the query. */
  readonly path: string;
  /** By name in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** A response before it is written as text. Without a body it has no content type either. */
export interface DemoResponse {
  readonly status: number;
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
}

export function ok(body: unknown): DemoResponse {
  return { status: 200, body };
}

/** The error response of a service. Its message is the name of the status, unless another one is given. */
export function errorResponse(
  service: ServiceName,
  status: number,
  message: string = STATUS_CODES[status] ?? 'Error',
  headers: DemoResponse['headers'] = {},
): DemoResponse {
  if (service === 'portal') return { status, headers, body: { message, detail: null } };
  // The file acceleration service documents no body for a rejected key.
  return status === 401 || status === 403 ? { status, headers } : { status, headers, body: { error: message } };
}

/** The portal's response to a body that it cannot accept. */
export function invalid(field: string, msg: string, input: unknown = null): DemoResponse {
  const detail = [{ type: 'value_error', loc: ['body', field], msg, input }];
  return { status: 422, body: { message: 'Validation Error', detail } };
}

/** The object in a JSON text; undefined if the text is something else. */
export function jsonObject(text: string): Readonly<Record<string, unknown>> | undefined {
  try {
    const value: unknown = JSON.parse(text);
    const isObject = typeof value === 'object' && value !== null && !Array.isArray(value);
    return isObject ? (value as Readonly<Record<string, unknown>>) : undefined;
  } catch {
    return undefined;
  }
}
