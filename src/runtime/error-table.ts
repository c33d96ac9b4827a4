/**
 * The purpose of a request, because a status may mean different things. `read`: it changes nothing and is about the
 * account. `series`: it reads a period of one object. `events`: it may consume the events that it returns. `token`: it
 * sends credentials.
 */
export type RequestPurpose = 'read' | 'series' | 'events' | 'token';

/**
 * What follows after the retries. `renew`: the request is sent with a new token, or with a key that has changed.
 * `wait`: nothing is sent until the wait is over. `shrink`: half the period is requested. `suspend`: the values are
 * removed, and the task is polled at the discovery interval. `pause`: no credentials are sent until a growing pause is
 * over. `keep`: the values stay while they are fresh, and the next poll follows.
 */
type Consequence = 'renew' | 'wait' | 'shrink' | 'suspend' | 'pause' | 'keep';

/** The reason as metrics, the log and the page name it. */
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

export interface ErrorPolicy {
  readonly reason: FailureReason;
  /** How often the request is sent again at once. */
  readonly retries?: number;
  readonly action: Consequence;
}

interface StatusRow extends ErrorPolicy {
  /** HTTP statuses, or reasons why there was no usable response. */
  readonly codes: readonly string[];
  /** The purposes for which the row holds; all by default. */
  readonly of?: readonly RequestPurpose[];
}

/** This table alone says what a status means. The first row that fits holds. docs/input.md shows it. */
export const ERROR_POLICIES: readonly StatusRow[] = [
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

/** The policy for what is no error of a request, and for a response that is not as documented. */
export const ELSE: ErrorPolicy = { reason: 'invalid', action: 'keep' };

/** Returns the policy for a value of the label `code`. */
export function policyForCode(code: string, kind: RequestPurpose): ErrorPolicy {
  const wide = /^\d{3}$/.test(code) ? `${code[0]}xx` : code;
  const fits = ({ codes, of }: StatusRow) =>
    (codes.includes(code) || codes.includes(wide)) && (of?.includes(kind) ?? true);
  return ERROR_POLICIES.find(fits) ?? ELSE;
}
