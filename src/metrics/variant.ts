/** Which of its undocumented alternatives a service shows. */
export interface Variant {
  /** What the documentation leaves open, as `time_unit`. */
  readonly question: string;
  /** The alternative that the answers show, as `milliseconds`. */
  readonly answer: string;
}

/** Answers that contradict what is held, one after the other, before it gives way: one odd record changes nothing. */
const CONTRARY = 3;

/** What the evidence says of one question: the first answer at once, another one after it has come three times in a row. */
export class VariantVerdict<Answer extends string> {
  #answer: Answer | undefined;
  #contrary: { readonly answer: Answer; readonly times: number } | undefined;

  /** Undefined while there was no evidence. */
  get answer(): Answer | undefined {
    return this.#answer;
  }

  /** The latest evidence contradicts the answer. */
  get isDisputed(): boolean {
    return this.#contrary !== undefined;
  }

  /** Takes evidence; none is no evidence. Returns true when the answer has changed. */
  take(answer: Answer | undefined): boolean {
    if (answer === undefined) return false;
    if (answer === this.#answer) this.#contrary = undefined;
    if (answer === this.#answer) return false;
    const times = this.#contrary?.answer === answer ? this.#contrary.times + 1 : 1;
    if (this.#answer !== undefined && times < CONTRARY) {
      this.#contrary = { answer, times };
      return false;
    }
    this.#answer = answer;
    this.#contrary = undefined;
    return true;
  }
}
