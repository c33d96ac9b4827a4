import { CredentialError, PostponedError, RequestError, type RequestPurpose } from './errors.ts';

/** The reason of a failure as metrics, the log and the page name it. */
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

/**
 * What follows after the repetitions. `renew`: the request is sent with a new token, or with a key that has changed.
 * `wait`: `transport/rate/` decides who waits, and how long. `shrink`: half the period is requested. `suspend`: the values
 * are removed, and the task is polled at the discovery interval. `pause`: no credentials are sent until a growing pause is
 * over. `keep`: the values stay while they are fresh, and the next poll follows.
 */
type Consequence = 'renew' | 'wait' | 'shrink' | 'suspend' | 'pause' | 'keep';

export interface Meaning {
  readonly reason: FailureReason;
  /** How often the request is sent again at most; never by default. */
  readonly repeats?: number;
  readonly action: Consequence;
}

interface FailureRow extends Meaning {
  /** HTTP statuses, or reasons why there was no usable response. */
  readonly codes: readonly string[];
  /** The purposes for which the row holds; all by default. */
  readonly of?: readonly RequestPurpose[];
}

/** This table alone says what a status means. The first row that fits holds. */
const FAILURES: readonly FailureRow[] = [
  { codes: ['400', '401', '403', '422'], of: ['token'], reason: 'credentials', action: 'pause' },
  { codes: ['401'], reason: 'credentials', action: 'renew' },
  { codes: ['403'], of: ['events'], reason: 'forbidden', action: 'renew' },
  { codes: ['403'], reason: 'forbidden', action: 'suspend' },
  { codes: ['404'], reason: 'not_found', action: 'suspend' },
  { codes: ['422'], reason: 'rejected', action: 'suspend' },
  // The same request would be as slow or as large again, so it is not repeated unchanged.
  { codes: ['408'], of: ['series'], reason: 'timeout', action: 'shrink' },
  { codes: ['413', 'oversize'], of: ['series'], reason: 'oversize', action: 'shrink' },
  { codes: ['408', 'timeout'], reason: 'timeout', action: 'keep' },
  { codes: ['413', 'oversize'], reason: 'oversize', action: 'keep' },
  { codes: ['429'], of: ['events'], reason: 'throttled', action: 'wait' },
  { codes: ['429'], reason: 'throttled', repeats: 2, action: 'wait' },
  { codes: ['500'], reason: 'server_error', repeats: 1, action: 'keep' },
  { codes: ['502', '503', '504'], of: ['events'], reason: 'server_error', repeats: 1, action: 'keep' },
  { codes: ['502', '503', '504'], reason: 'server_error', repeats: 2, action: 'keep' },
  { codes: ['5xx'], reason: 'server_error', action: 'keep' },
  { codes: ['network'], of: ['events'], reason: 'network', repeats: 1, action: 'keep' },
  { codes: ['network'], reason: 'network', repeats: 2, action: 'keep' },
  { codes: ['invalid'], reason: 'invalid', action: 'keep' },
  { codes: ['4xx'], reason: 'rejected', action: 'keep' },
];

/** The meaning of what is no failure of a request, and of a response that is not as documented. */
const ELSE: Meaning = { reason: 'invalid', action: 'keep' };

export function meaningOf(error: unknown): Meaning {
  if (error instanceof PostponedError) return { reason: 'throttled', action: 'wait' };
  return error instanceof RequestError ? meaningOfCode(error.code, error.purpose) : ELSE;
}

/** `code`: a value of the label `code`. */
function meaningOfCode(code: string, purpose: RequestPurpose): Meaning {
  const wide = /^\d{3}$/.test(code) ? `${code[0]}xx` : code;
  const fits = ({ codes, of }: FailureRow) =>
    (codes.includes(code) || codes.includes(wide)) && (of?.includes(purpose) ?? true);
  return FAILURES.find(fits) ?? ELSE;
}

/** Whether the service does not have the object, or not for the build of the appliance. */
export function isNotFound(error: unknown): boolean {
  const { action, reason } = meaningOf(error);
  return action === 'suspend' && reason !== 'forbidden';
}

export function isForbidden(error: unknown): boolean {
  return failureReason(error) === 'forbidden';
}

/** Returns why a poll returned nothing, as the label `reason` of `filer_api_down_info`. */
export function failureReason(error: unknown): FailureReason {
  if (!(error instanceof CredentialError)) return meaningOf(error).reason;
  return error.cause === undefined ? 'credentials' : meaningOf(error.cause).reason;
}
