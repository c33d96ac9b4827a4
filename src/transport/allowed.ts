import { ForbiddenRequestError } from '../runtime/errors.ts';

/** The methods that the program has any use for. */
export type Method = 'GET' | 'POST' | 'DELETE';

// An id is a uuid, or one with a number behind it: nothing that a server could read as another path, such as `..`.
const POSTS = /^\/(?:auth\/token(?:\/refresh)?|telemetry\/(?:appliances|volumes)\/[\w-]+\/[a-z_]+)$/;

/**
 * The one place that keeps the program read-only: any GET, the token's own three operations, and the telemetry series,
 * which are POST but only read (upstream-api.md 5.12). Throws a ForbiddenRequestError for everything else.
 */
export function assertAllowed(method: Method, path: string): void {
  if (method === 'GET') return;
  if (method === 'POST' && POSTS.test(path)) return;
  if (method === 'DELETE' && path === '/auth/token') return;
  throw new ForbiddenRequestError(`refusing to send ${method} ${path}: the exporter only reads`);
}
