import { type Found, operationAt } from './portal/operations.ts';

/** The operation of a request; `rejection` if there is none. */
export interface Route {
  readonly service: 'gfa' | 'portal';
  /** A name for faults and records: the operation, the telemetry segment, or `unknown`. */
  readonly operation: string;
  /** The path without the prefix of its service. */
  readonly path: string;
  /** The read operation, for a request to the portal. */
  readonly found?: Found;
  /** The appliance of a telemetry operation. */
  readonly serial?: string;
  readonly rejection?: 404 | 405;
}

const GFA_PREFIX = '/gfa/v1';
const PORTAL_PREFIX = '/portal';

const gfaPaths: ReadonlyMap<string, string> = new Map([['GET /data', 'data']]);

const tokenPaths: ReadonlyMap<string, string> = new Map([
  ['POST /auth/token', 'token'],
  ['POST /auth/token/refresh', 'token'],
  ['DELETE /auth/token', 'revoke'],
]);

/** Finds the operation. An unknown read request is 404; a request that might change something is 405. */
export function routeOf(method: string, pathname: string): Route {
  const service = pathname.startsWith(`${GFA_PREFIX}/`) ? 'gfa' : 'portal';
  const prefix = service === 'gfa' ? GFA_PREFIX : PORTAL_PREFIX;
  const isOurs = pathname.startsWith(`${prefix}/`);
  const path = isOurs ? pathname.slice(prefix.length) : pathname;
  const operation = (service === 'gfa' ? gfaPaths : tokenPaths).get(`${method} ${path}`);
  if (isOurs && operation !== undefined) return { service, operation, path };
  const found = isOurs && service === 'portal' ? operationAt(path) : undefined;
  if (found !== undefined && found.operation.method === method) {
    const serial = found.parameters.serial_number;
    return { service, operation: found.operation.name, path, found, ...(serial === undefined ? {} : { serial }) };
  }
  return { service, operation: 'unknown', path, rejection: rejectionOf(method, path, found) };
}

function rejectionOf(method: string, path: string, found: Found | undefined): 404 | 405 {
  if (found?.operation.method === 'POST') return 405;
  const onlyReads = method === 'GET' || method === 'HEAD' || (method === 'POST' && path.startsWith('/telemetry/'));
  return onlyReads ? 404 : 405;
}
