/** The alternative that a service uses where its documentation is open. */
export interface Variant {
  /** The open question, such as `time_unit`. */
  readonly question: string;
  /** The observed alternative, such as `milliseconds`. */
  readonly answer: string;
}

/** Returns a variant for each question that has an answer. */
export function variantsOf(answers: Readonly<Record<string, string | undefined>>): readonly Variant[] {
  return Object.entries(answers).flatMap(([question, answer]) => (answer === undefined ? [] : [{ question, answer }]));
}
