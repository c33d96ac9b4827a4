import { applianceSeries } from './series.ts';

/** Which operation a request is; `refusal` when there is none. */
export interface Route {
  readonly service: 'gfa' | 'portal';
  /** A name for faults and records: the operation, the telemetry segment, or `unknown`. */
  readonly operation: string;
  /** The path without the prefix of its service. */
  readonly path: string;
  /** The appliance of a telemetry operation. */
  readonly serial?: string;
  readonly refusal?: 404 | 405;
}

const GFA_PREFIX = '/gfa/v1';
const PORTAL_PREFIX = '/portal';
const TELEMETRY = /^\/telemetry\/appliances\/([^/]+)\/([^/]+)$/;

const gfaPaths: ReadonlyMap<string, string> = new Map([['GET /data', 'data']]);

const portalPaths: ReadonlyMap<string, string> = new Map([
  ['GET /health', 'health'],
  ['POST /auth/token', 'token'],
  ['DELETE /auth/token', 'revoke'],
  ['POST /auth/token/refresh', 'refresh'],
  ['GET /serials', 'serials'],
  ['GET /edges', 'edges'],
  ['GET /volume_connections', 'volume_connections'],
  ['GET /account/license', 'license'],
]);

/** The telemetry segments: the 20 series and the two single objects. */
const segments: ReadonlySet<string> = new Set([
  ...applianceSeries.keys(),
  'current_appliance_performance',
  'appliance_health_score',
]);

/** Finds the operation. What only reads and is not known is 404; what might change something is 405. */
export function routeOf(method: string, pathname: string): Route {
  const service = pathname.startsWith(`${GFA_PREFIX}/`) ? 'gfa' : 'portal';
  const prefix = service === 'gfa' ? GFA_PREFIX : PORTAL_PREFIX;
  const path = pathname.startsWith(`${prefix}/`) ? pathname.slice(prefix.length) : pathname;
  const operation = (service === 'gfa' ? gfaPaths : portalPaths).get(`${method} ${path}`);
  if (operation !== undefined && path !== pathname) return { service, operation, path };
  if (service === 'portal' && path !== pathname && path.startsWith('/telemetry/')) return telemetryRoute(method, path);
  return { service, operation: 'unknown', path, refusal: method === 'GET' || method === 'HEAD' ? 404 : 405 };
}

function telemetryRoute(method: string, path: string): Route {
  const [, serial = '', segment = ''] = TELEMETRY.exec(path) ?? [];
  if (!segments.has(segment))
    return {
      service: 'portal',
      operation: 'unknown',
      path,
      refusal: method === 'POST' || method === 'GET' ? 404 : 405,
    };
  const route = { service: 'portal', operation: segment, path, serial } as const;
  return method === 'POST' ? route : { ...route, operation: 'unknown', refusal: 405 };
}
