/** What is saved over restarts, as JSON values: one, or one for each filer and volume. */
export interface Persisted {
  state(): Iterable<unknown>;
  /** Restores what was saved `elapsedMs` ago; yields wherever it may be interrupted. */
  restore(values: readonly unknown[], elapsedMs: number): Generator<void>;
}
