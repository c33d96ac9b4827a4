import { ELSE, type ErrorPolicy, type FailureReason } from './error-table.ts';
import { CredentialError, RequestError } from './errors.ts';

/** What an error of a request means, by the table. A response that is not as documented is `invalid`. */
export function meaningOf(error: unknown): ErrorPolicy {
  return error instanceof RequestError ? error.meaning : ELSE;
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
