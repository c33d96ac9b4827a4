import { CredentialError, RequestError } from './errors.ts';

/**
 * What a request is for, as far as a status means something else then. `read`: it changes nothing and is about the account.
 * `series`: the same about a period of one object. `events`: it may use up what it asks for. `token`: it sends credentials.
 */
export type RequestKind = 'read' | 'series' | 'events' | 'token';

/**
 * What follows once retries have not helped. `renew`: the same request with a new token, or with a key that has changed.
 * `hold`: nothing is sent until the hold is over. `shrink`: the same request for half the period. `back off`: the values
 * go, and the task is polled at the discovery interval. `pause`: no credentials are sent until a growing pause is over.
 * `wait`: the values stay while fresh, and the next poll follows.
 */
type Consequence = 'renew' | 'hold' | 'shrink' | 'back off' | 'pause' | 'wait';

/** The word for it in metrics, in the log and on the page. */
export type Reason =
  | 'credentials'
  | 'forbidden'
  | 'not_found'
  | 'rejected'
  | 'timeout'
  | 'oversize'
  | 'throttled'
  | 'server_error'
  | 'network'
  | 'invalid';

interface Meaning {
  readonly reason: Reason;
  /** How often the request is sent again at once. */
  readonly retries?: number;
  readonly does: Consequence;
}

interface StatusRow extends Meaning {
  /** HTTP statuses, or why there was no usable answer. */
  readonly codes: readonly string[];
  /** Default all. */
  readonly of?: readonly RequestKind[];
}

/** The one place that says what a status means; the first row that fits holds. docs/pacing.md shows it. */
export const STATUSES: readonly StatusRow[] = [
  { codes: ['400', '401', '403', '422'], of: ['token'], reason: 'credentials', does: 'pause' },
  { codes: ['401'], reason: 'credentials', does: 'renew' },
  { codes: ['403'], of: ['events'], reason: 'forbidden', does: 'renew' },
  { codes: ['403'], reason: 'forbidden', does: 'back off' },
  { codes: ['404'], reason: 'not_found', does: 'back off' },
  { codes: ['422'], reason: 'rejected', does: 'back off' },
  // Not retried as they are: the request would be as slow or as large again.
  { codes: ['408'], of: ['series'], reason: 'timeout', does: 'shrink' },
  { codes: ['413', 'oversize'], of: ['series'], reason: 'oversize', does: 'shrink' },
  { codes: ['408', 'timeout'], reason: 'timeout', does: 'wait' },
  { codes: ['413', 'oversize'], reason: 'oversize', does: 'wait' },
  { codes: ['429'], of: ['events'], reason: 'throttled', does: 'hold' },
  { codes: ['429'], reason: 'throttled', retries: 2, does: 'hold' },
  { codes: ['500'], reason: 'server_error', retries: 1, does: 'wait' },
  { codes: ['502', '503', '504'], of: ['events'], reason: 'server_error', retries: 1, does: 'wait' },
  { codes: ['502', '503', '504'], reason: 'server_error', retries: 2, does: 'wait' },
  { codes: ['5xx'], reason: 'server_error', does: 'wait' },
  { codes: ['network'], of: ['events'], reason: 'network', retries: 1, does: 'wait' },
  { codes: ['network'], reason: 'network', retries: 2, does: 'wait' },
  { codes: ['invalid'], reason: 'invalid', does: 'wait' },
  { codes: ['4xx'], reason: 'rejected', does: 'wait' },
];

const ELSE: Meaning = { reason: 'invalid', does: 'wait' };

/** `code`: as in the label `code` of requests. */
export function meaningOf(code: string, kind: RequestKind): Meaning {
  const wide = /^\d{3}$/.test(code) ? `${code[0]}xx` : code;
  const fits = ({ codes, of }: StatusRow) =>
    (codes.includes(code) || codes.includes(wide)) && (of?.includes(kind) ?? true);
  return STATUSES.find(fits) ?? ELSE;
}

/** Of an error that a request came to: an answer that is not as documented is `invalid`. */
export function meaningOfError(error: unknown, kind: RequestKind): Meaning {
  return error instanceof RequestError ? meaningOf(error.code, kind) : ELSE;
}

/** The service does not have it: the object is unknown, or does not exist for its build. */
export function isMissing(error: unknown): boolean {
  const { does, reason } = meaningOfError(error, 'read');
  return does === 'back off' && reason !== 'forbidden';
}

export function isForbidden(error: unknown): boolean {
  return reasonOf(error) === 'forbidden';
}

/** Why a poll returned nothing: the label `reason` of `filer_api_down_info`. */
export function reasonOf(error: unknown): Reason {
  if (!(error instanceof CredentialError)) return meaningOfError(error, 'read').reason;
  return error.cause === undefined ? 'credentials' : meaningOfError(error.cause, 'token').reason;
}
