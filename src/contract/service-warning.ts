import type { FailureReason } from '../runtime/failures.ts';
import type { Explanation } from './causes.ts';

/**
 * A condition of a service that an operator should know. It is shown on the status page while it lasts, and logged
 * once.
 */
export interface ServiceWarning extends Explanation {
  /** Identifies the condition while its text changes. */
  readonly code: string;
  /** The reason of the failures that it explains, which are not explained again. */
  readonly explains?: FailureReason;
}
