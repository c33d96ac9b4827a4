import type { Cursors } from './portal/pages.ts';
import type { Variations } from './variations.ts';
import type { SimulatedFleet } from './world/world.ts';

/** A request for the handlers: with its whole body, its path without the prefix of the service. */
export interface DemoRequest {
  readonly method: string;
  readonly path: string;
  readonly query: URLSearchParams;
  /** By name in lower case. */
  readonly headers: ReadonlyMap<string, string>;
  readonly body: string;
}

/** A response before it is sent, and before a fault changes it. */
export interface DemoResponse {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | Buffer;
}

/** The input of a handler: the request, the world and the time. */
export interface Scene {
  readonly request: DemoRequest;
  readonly world: SimulatedFleet;
  readonly variations: Variations;
  readonly now: number;
  /** The lists that clients read page by page. */
  readonly cursors: Cursors;
}

/** One error of a 422, as in the portal's ValidationErrorResponse. */
export interface Complaint {
  readonly type: string;
  readonly loc: readonly (string | number)[];
  readonly msg: string;
  readonly input: unknown;
}

/** A JSON response. */
export function json(status: number, value: unknown, headers: Readonly<Record<string, string>> = {}): DemoResponse {
  return { status, headers: { 'content-type': 'application/json', ...headers }, body: JSON.stringify(value) };
}

/** A response without a body. */
export function empty(status: number, headers: Readonly<Record<string, string>> = {}): DemoResponse {
  return { status, headers, body: '' };
}

/** The portal's ErrorResponse. */
export function portalError(
  status: number,
  message: string,
  headers: Readonly<Record<string, string>> = {},
): DemoResponse {
  return json(status, { message, detail: null }, headers);
}

/** The portal's ValidationErrorResponse. */
export function invalid(...complaints: readonly Complaint[]): DemoResponse {
  return json(422, { message: 'Validation Error', detail: complaints });
}

/** The error body of `GET /data`. */
export function gfaError(status: number, error: string): DemoResponse {
  return json(status, { error });
}

/** The value of a JSON text; undefined if it is invalid. */
export function parsedJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Whether a value is a JSON object. */
export function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
