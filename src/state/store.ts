/** Where the state is kept: the file, or a stand-in of it. */
export interface StateStore {
  /** The whole content; undefined when there is none. */
  read(): Promise<Buffer | undefined>;
  /** Puts new content in the place of the old: wholly, or not at all when it is cut off. */
  write(chunks: readonly Buffer[]): Promise<void>;
  /**
   * Moves the content out of the way, for people to look at, under its name with `.<word>-<moment>` behind it; the oldest
   * of those that went aside before may be removed. Resolves with the new name, or undefined when there is none.
   */
  setAside(word: string, moment: Date): Promise<string | undefined>;
}
