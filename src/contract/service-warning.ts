/**
 * A condition of a service that an operator should know. It is shown on the status page while it lasts, and logged
 * once.
 */
export interface ServiceWarning {
  /** Identifies the condition while its message changes. */
  readonly code: string;
  /** A sentence that says what happens and what to do. */
  readonly message: string;
}
