import type { Family, Fields } from '../../../metrics/family.ts';
import type { NoteDrop } from '../../../metrics/samples.ts';
import type { Variant } from '../../../metrics/variant.ts';
import type { Log } from '../../../runtime/log.ts';
import { Dialect } from './dialect.ts';

/** What the portal documents, so that an account that does so is not worth a line in the log. */
const DOCUMENTED: ReadonlySet<string> = new Set(['percent', 'kilobytes', 'milliseconds']);

/** The units of the account that the daemon polls: learned from every answer, applied before a table is, told once. */
export class AccountDialect {
  readonly #dialect = new Dialect();
  readonly #log: Log;
  /** Series and fields with values that cannot be true. */
  readonly #implausible = new Set<string>();

  constructor(log: Log) {
    this.#log = log;
  }

  get variants(): readonly Variant[] {
    return this.#dialect.variants;
  }

  /** What explains numbers that would puzzle an operator, in whole sentences. */
  get notes(): readonly string[] {
    const converted = this.variants.filter(({ answer }) => !DOCUMENTED.has(answer));
    return [
      ...converted.map(
        ({ question, answer }) => `This account tells its ${question.replace('_', ' ')} as ${answer}; converted.`,
      ),
      ...[...this.#implausible].map((place) => `${place} has held implausible values, which give no sample.`),
    ];
  }

  /** The rows and records of an answer that a table may be applied to; learns from them first. */
  read(
    operation: string,
    families: readonly Family[],
    sent: readonly Fields[],
    note: NoteDrop,
  ): { readonly families: readonly Family[]; readonly records: readonly Fields[] } {
    for (const { question, answer } of this.#dialect.learn(operation, sent)) {
      if (DOCUMENTED.has(answer)) continue;
      this.#log.warn({ api: 'portal', question, answer }, 'the account uses another unit than documented; converting');
    }
    const undisputed = this.#dialect.undisputed(families, note);
    return { families: undisputed, records: this.#dialect.translated(undisputed, sent) };
  }

  /** Passes drops on, and tells of each field with implausible values once. */
  watched(operation: string, note: NoteDrop): NoteDrop {
    return (reason, place) => {
      note(reason, place);
      const field = `${operation} ${place}`;
      if (reason !== 'implausible' || this.#implausible.has(field)) return;
      this.#implausible.add(field);
      this.#log.warn({ api: 'portal', operation, field: place }, 'implausible value: no sample');
    };
  }
}
