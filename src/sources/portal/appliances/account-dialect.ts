import type { Family, Fields } from '../../../metrics/family.ts';
import type { NoteDrop } from '../../../metrics/samples.ts';
import type { Variant } from '../../../metrics/variant.ts';
import type { Log } from '../../../runtime/log.ts';
import { Dialect } from './dialect.ts';

/** The documented units: an account that uses them needs no log line. */
const DOCUMENTED: ReadonlySet<string> = new Set(['percent', 'kilobytes', 'milliseconds']);

/** The units of the polled account: learned from every answer, applied before a table, and logged once. */
export class AccountDialect {
  readonly #dialect = new Dialect();
  readonly #log: Log;
  /** Series and fields that have held implausible values. */
  readonly #implausible = new Set<string>();

  constructor(log: Log) {
    this.#log = log;
  }

  get variants(): readonly Variant[] {
    return this.#dialect.variants;
  }

  /** Explanations of unexpected numbers for the operator, in whole sentences. */
  get notes(): readonly string[] {
    const converted = this.variants.filter(({ answer }) => !DOCUMENTED.has(answer));
    return [
      ...converted.map(
        ({ question, answer }) =>
          `This account sends its ${question.replace('_', ' ')} as ${answer}; the exporter converts it.`,
      ),
      ...[...this.#implausible].map((place) => `${place} has held implausible values; they have no sample.`),
    ];
  }

  /** The rows and records of an answer to which a table may be applied; learns from them first. */
  read(
    operation: string,
    families: readonly Family[],
    sent: readonly Fields[],
    note: NoteDrop,
  ): { readonly families: readonly Family[]; readonly records: readonly Fields[] } {
    for (const { question, answer } of this.#dialect.learn(operation, sent)) {
      if (DOCUMENTED.has(answer)) continue;
      this.#log.warn(
        { api: 'portal', question, answer },
        'account uses another unit than documented; values converted',
      );
    }
    const undisputed = this.#dialect.undisputed(families, note);
    return { families: undisputed, records: this.#dialect.translated(undisputed, sent) };
  }

  /** Passes on noted values, and logs the first implausible value of each field. */
  watched(operation: string, note: NoteDrop): NoteDrop {
    return (reason, place) => {
      note(reason, place);
      const field = `${operation} ${place}`;
      if (reason !== 'implausible' || this.#implausible.has(field)) return;
      this.#implausible.add(field);
      this.#log.warn({ api: 'portal', operation, field: place }, 'implausible value dropped');
    };
  }
}
