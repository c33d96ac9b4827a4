import type { AllowedRequests } from '../../transport/allowed.ts';
import type { RetryPolicy } from '../../transport/retry.ts';

/**
 * What the portal takes beside GET: the token's own three operations, and the telemetry series, which are POST but only
 * read (upstream-api.md 5.12). An id is a uuid, or one with a number behind it: nothing that a server could read as
 * another path, such as `..`.
 */
export const portalRequests: readonly AllowedRequests[] = [
  { method: 'POST', path: /^\/auth\/token(?:\/refresh)?$/ },
  { method: 'DELETE', path: /^\/auth\/token$/ },
  { method: 'POST', path: /^\/telemetry\/(?:appliances|volumes)\/[\w-]+\/[a-z_]+$/ },
];

/** Every read of the portal changes nothing: upstream-api.md 6.3. A time-out is not repeated: it has cost enough, and the next slot comes. */
export const portalRetries: RetryPolicy = { transient: 2, serverError: 1, refused: 2 };
