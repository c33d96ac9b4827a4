/** Where the state is kept: the file, or a stand-in of it. */
export interface StateStore {
  /** The whole content; undefined when there is none. */
  read(): Promise<Buffer | undefined>;
  /** Puts new content in the place of the old: wholly, or not at all when it is cut off. */
  write(chunks: readonly Buffer[]): Promise<void>;
  /** Moves the content out of the way, for people to look at; resolves with its new name, or undefined when there is none. */
  setAside(suffix: string): Promise<string | undefined>;
}
