import { CredentialError, RequestError } from './errors.ts';

/**
 * What a request is for, as far as a status means something else then. `read`: it changes nothing and is about the account.
 * `series`: the same about a period of one object. `events`: it may use up what it asks for. `token`: it sends credentials.
 */
export type RequestPurpose = 'read' | 'series' | 'events' | 'token';

/**
 * What follows once retries have not helped. `renew`: the same request with a new token, or with a key that has changed.
 * `hold`: nothing is sent until the hold is over. `shrink`: the same request for half the period. `back off`: the values
 * go, and the task is polled at the discovery interval. `pause`: no credentials are sent until a growing pause is over.
 * `wait`: the values stay while fresh, and the next poll follows.
 */
type Consequence = 'renew' | 'wait' | 'shrink' | 'suspend' | 'pause' | 'keep';

/** The word for it in metrics, in the log and on the page. */
export type FailureReason =
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

interface ErrorPolicy {
  readonly reason: FailureReason;
  /** How often the request is sent again at once. */
  readonly retries?: number;
  readonly action: Consequence;
}

interface StatusRow extends ErrorPolicy {
  /** HTTP statuses, or why there was no usable answer. */
  readonly codes: readonly string[];
  /** Default all. */
  readonly of?: readonly RequestPurpose[];
}

/** The one place that says what a status means; the first row that fits holds. docs/input.md shows it. */
export const ERROR_POLICIES: readonly StatusRow[] = [
  { codes: ['400', '401', '403', '422'], of: ['token'], reason: 'credentials', action: 'pause' },
  { codes: ['401'], reason: 'credentials', action: 'renew' },
  { codes: ['403'], of: ['events'], reason: 'forbidden', action: 'renew' },
  { codes: ['403'], reason: 'forbidden', action: 'suspend' },
  { codes: ['404'], reason: 'not_found', action: 'suspend' },
  { codes: ['422'], reason: 'rejected', action: 'suspend' },
  // Not retried as they are: the request would be as slow or as large again.
  { codes: ['408'], of: ['series'], reason: 'timeout', action: 'shrink' },
  { codes: ['413', 'oversize'], of: ['series'], reason: 'oversize', action: 'shrink' },
  { codes: ['408', 'timeout'], reason: 'timeout', action: 'keep' },
  { codes: ['413', 'oversize'], reason: 'oversize', action: 'keep' },
  { codes: ['429'], of: ['events'], reason: 'throttled', action: 'wait' },
  { codes: ['429'], reason: 'throttled', retries: 2, action: 'wait' },
  { codes: ['500'], reason: 'server_error', retries: 1, action: 'keep' },
  { codes: ['502', '503', '504'], of: ['events'], reason: 'server_error', retries: 1, action: 'keep' },
  { codes: ['502', '503', '504'], reason: 'server_error', retries: 2, action: 'keep' },
  { codes: ['5xx'], reason: 'server_error', action: 'keep' },
  { codes: ['network'], of: ['events'], reason: 'network', retries: 1, action: 'keep' },
  { codes: ['network'], reason: 'network', retries: 2, action: 'keep' },
  { codes: ['invalid'], reason: 'invalid', action: 'keep' },
  { codes: ['4xx'], reason: 'rejected', action: 'keep' },
];

const ELSE: ErrorPolicy = { reason: 'invalid', action: 'keep' };

/** `code`: as in the label `code` of requests. */
export function policyForCode(code: string, kind: RequestPurpose): ErrorPolicy {
  const wide = /^\d{3}$/.test(code) ? `${code[0]}xx` : code;
  const fits = ({ codes, of }: StatusRow) =>
    (codes.includes(code) || codes.includes(wide)) && (of?.includes(kind) ?? true);
  return ERROR_POLICIES.find(fits) ?? ELSE;
}

/** Of an error that a request came to: an answer that is not as documented is `invalid`. */
export function policyForError(error: unknown, kind: RequestPurpose): ErrorPolicy {
  return error instanceof RequestError ? policyForCode(error.code, kind) : ELSE;
}

/** The service does not have it: the object is unknown, or does not exist for its build. */
export function isNotFound(error: unknown): boolean {
  const { action, reason } = policyForError(error, 'read');
  return action === 'suspend' && reason !== 'forbidden';
}

export function isForbidden(error: unknown): boolean {
  return failureReason(error) === 'forbidden';
}

/** Why a poll returned nothing: the label `reason` of `filer_api_down_info`. */
export function failureReason(error: unknown): FailureReason {
  if (!(error instanceof CredentialError)) return policyForError(error, 'read').reason;
  return error.cause === undefined ? 'credentials' : policyForError(error.cause, 'token').reason;
}
