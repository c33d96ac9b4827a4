import { ForbiddenRequestError } from '../runtime/errors.ts';

/** The methods that the program has any use for. */
export type Method = 'GET' | 'POST' | 'DELETE';

/** Requests of a service that change nothing although they are no GET. */
export interface AllowedRequests {
  readonly method: Exclude<Method, 'GET'>;
  /** The whole path. */
  readonly path: RegExp;
}

/**
 * The one place that keeps the program read-only: any GET, and what the service's own list allows. Throws a
 * ForbiddenRequestError for everything else.
 */
export function assertAllowed(
  { method, path }: { readonly method: Method; readonly path: string },
  allowed: readonly AllowedRequests[],
): void {
  if (method === 'GET' || allowed.some((one) => one.method === method && one.path.test(path))) return;
  throw new ForbiddenRequestError(`refusing to send ${method} ${path}: the exporter only reads`);
}
