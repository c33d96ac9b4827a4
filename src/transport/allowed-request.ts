import { ForbiddenRequestError } from '../runtime/errors.ts';

export type Method = 'GET' | 'POST' | 'DELETE';

export interface AllowedRequest {
  readonly method: Exclude<Method, 'GET'>;
  readonly path: RegExp;
}

/** The one place that keeps the program read-only. Throws a ForbiddenRequestError for other requests. */
export function assertAllowed(
  { method, path }: { readonly method: Method; readonly path: string },
  allowed: readonly AllowedRequest[],
): void {
  if (method === 'GET' || allowed.some((one) => one.method === method && one.path.test(path))) return;
  throw new ForbiddenRequestError(`refusing to send ${method} ${path}: the exporter only reads`);
}
