/** The alternative that a service uses where its documentation is open. */
export interface Variant {
  /** The open question, such as `time_unit`. */
  readonly question: string;
  /** The observed alternative, such as `milliseconds`. */
  readonly answer: string;
}

/** Without the questions that have no answer. */
export function variantsOf(answers: Readonly<Record<string, string | undefined>>): readonly Variant[] {
  return Object.entries(answers).flatMap(([question, answer]) => (answer === undefined ? [] : [{ question, answer }]));
}

/** How many contradicting answers in a row change the verdict: a single odd record changes nothing. */
const CONTRARY = 3;

/** The verdict on one question: the first evidence counts at once, a different one after three times in a row. */
export class VariantVerdict<Answer extends string> {
  #answer: Answer | undefined;
  #contrary: { readonly answer: Answer; readonly times: number } | undefined;

  /** Undefined without evidence so far. */
  get answer(): Answer | undefined {
    return this.#answer;
  }

  /** The latest evidence contradicts the verdict. */
  get isDisputed(): boolean {
    return this.#contrary !== undefined;
  }

  /** Takes evidence; undefined is no evidence. Returns true if the verdict has changed. */
  take(answer: Answer | undefined): boolean {
    if (answer === undefined) return false;
    const times = this.#contrary?.answer === answer ? this.#contrary.times + 1 : 1;
    const isSame = answer === this.#answer;
    const hasChanged = !isSame && (this.#answer === undefined || times >= CONTRARY);
    this.#contrary = isSame || hasChanged ? undefined : { answer, times };
    if (hasChanged) this.#answer = answer;
    return hasChanged;
  }
}
