import { ForbiddenRequestError } from '../runtime/errors.ts';

export type Method = 'GET' | 'POST' | 'DELETE';

export interface AllowedRequest {
  readonly method: Exclude<Method, 'GET'>;
  readonly path: RegExp;
}

/** Keeps the program read-only: throws a ForbiddenRequestError unless the request is a GET or is in `allowed`. */
export function assertAllowed(
  { method, path }: { readonly method: Method; readonly path: string },
  allowed: readonly AllowedRequest[],
): void {
  if (method === 'GET' || allowed.some((request) => request.method === method && request.path.test(path))) return;
  throw new ForbiddenRequestError(`${method} ${path} is not sent: the exporter only reads`);
}
