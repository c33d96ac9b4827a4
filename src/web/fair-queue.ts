/** Something that waits for its turn. */
interface Turn {
  isWanted(): boolean;
  /** Does it. Never rejects: its own promise does. */
  begin(): Promise<void>;
  skip(): void;
}

/** Does one thing at a time. Those for whom it is done take turns, so that the many of one hold up nobody else's. */
export class Turns {
  readonly #share: number;
  /** What waits, by whom it is for; whose turn is next comes first. */
  readonly #lines = new Map<string, Turn[]>();
  #isBusy = false;

  /** `share`: how many may wait of each. */
  constructor(share: number) {
    this.#share = share;
  }

  /** What the job gives; undefined where it is not done: too many of `whose` wait, or by its turn nobody wants it. */
  run<Result>(whose: string, isWanted: () => boolean, job: () => Promise<Result>): Promise<Result | undefined> {
    const line = this.#wantedOf(whose);
    if (line.length >= this.#share) return Promise.resolve(undefined);
    return new Promise((resolve, reject) => {
      const begin = async () => {
        try {
          resolve(await job());
        } catch (error) {
          reject(error);
        }
      };
      line.push({ isWanted, begin, skip: () => resolve(undefined) });
      this.#lines.set(whose, line);
      if (!this.#isBusy) void this.#work();
    });
  }

  /** What waits of one, and is wanted: what is not takes no place in its share. */
  #wantedOf(whose: string): Turn[] {
    const line = this.#lines.get(whose) ?? [];
    for (const turn of line) if (!turn.isWanted()) turn.skip();
    return line.filter((turn) => turn.isWanted());
  }

  async #work(): Promise<void> {
    this.#isBusy = true;
    for (let turn = this.#next(); turn !== undefined; turn = this.#next()) {
      if (turn.isWanted()) await turn.begin();
      else turn.skip();
    }
    this.#isBusy = false;
  }

  #next(): Turn | undefined {
    for (const [whose, [turn, ...others]] of this.#lines) {
      // To the end of the row, if there are others.
      this.#lines.delete(whose);
      if (others.length > 0) this.#lines.set(whose, others);
      return turn;
    }
    return undefined;
  }
}
