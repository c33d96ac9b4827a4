/** A part of the program that keeps something over restarts, as one JSON value in `STATE_FILE`. */
export interface SavedPart {
  /** The key of the part in the file. */
  readonly name: string;
  save(): unknown;
  /**
   * Restores what another process has saved. `shiftMs` turns a monotonic time of that process into one of this process.
   * Throws, and changes nothing, if the value is unusable.
   */
  restore(saved: unknown, shiftMs: number): void;
}

/** Called after a poll that counted something, so that a kill makes little of it count again. Returns at once. */
export type SaveSoon = () => void;
