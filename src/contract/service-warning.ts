/** What an operator should know about a service while it lasts: on the status page, and once in the log. */
export interface ServiceWarning {
  /** The same for as long as it lasts. */
  readonly code: string;
  /** A whole sentence, with what to do. */
  readonly message: string;
}
