/** Where the state is saved: the file, or a stand-in for it. */
export interface StateStore {
  /** The whole content; undefined if there is none. */
  read(): Promise<Buffer | undefined>;
  /** Replaces the content, completely or, if interrupted, not at all. */
  write(chunks: readonly Buffer[]): Promise<void>;
  /**
   * Renames the content, for inspection, by adding `.<word>-<moment>`; may remove the oldest of those renamed before.
   * Resolves with the new name, or undefined if there is none.
   */
  setAside(word: string, moment: Date): Promise<string | undefined>;
  /** Lets another process write it. */
  release?(): void;
}
