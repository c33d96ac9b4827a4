import type { AllowedRequest } from '../../transport/allowed-request.ts';

/**
 * The requests to the portal that are allowed in addition to GET: the token operations, and the telemetry series, which
 * use POST but only read. An id matches `[\w-]+`, so that a server cannot read it as another path, such as `..`.
 */
export const portalRequests: readonly AllowedRequest[] = [
  { method: 'POST', path: /^\/auth\/token(?:\/refresh)?$/ },
  { method: 'DELETE', path: /^\/auth\/token$/ },
  { method: 'POST', path: /^\/telemetry\/(?:appliances|volumes)\/[\w-]+\/[a-z_]+$/ },
];
