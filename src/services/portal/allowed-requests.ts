import type { AllowedRequest } from '../../transport/allowed-request.ts';

/**
 * The requests to the portal besides GET: the token operations, and the telemetry series, which use POST but only
 * read. An id is a uuid, or one with a number behind it, so that a server cannot read it as another path, such as `..`.
 */
export const portalRequests: readonly AllowedRequest[] = [
  { method: 'POST', path: /^\/auth\/token(?:\/refresh)?$/ },
  { method: 'DELETE', path: /^\/auth\/token$/ },
  { method: 'POST', path: /^\/telemetry\/(?:appliances|volumes)\/[\w-]+\/[a-z_]+$/ },
];
