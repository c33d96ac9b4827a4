import type { Fields } from '../../../metrics/family.ts';
import type { Variant } from '../../../metrics/variant.ts';
import type { Log } from '../../../runtime/log.ts';
import { otherUnits, type UnitName } from './account-units.ts';
import { advisedUnits, unitsIn } from './unit-evidence.ts';

/** Tells once if an account seems to use another unit; no number is read differently by it. */
export class UnitWatch {
  readonly #units: readonly UnitName[];
  readonly #log: Log;
  readonly #proven = new Map<string, Variant>();
  readonly #told = new Set<string>();

  constructor(units: readonly UnitName[], log: Log) {
    this.#units = units;
    this.#log = log;
  }

  get variants(): readonly Variant[] {
    const configured = this.#units.map((unit) => otherUnits[unit]);
    const isOpen = ({ question }: Variant) => configured.every((one) => one.question !== question);
    return [
      ...configured.map(({ question, answer }) => ({ question, answer })),
      ...[...this.#proven.values()].filter(isOpen),
    ];
  }

  look(operation: string, records: readonly Fields[]): void {
    for (const evidence of unitsIn(operation, records)) {
      const { question, answer, isProof } = evidence;
      const key = `${question} ${answer}`;
      if (isProof) this.#proven.set(key, { question, answer });
      const advised = advisedUnits(this.#units, [evidence]);
      if (advised === this.#units || this.#told.has(key)) continue;
      this.#told.add(key);
      const message = 'values look like another unit than the one they are read in; no value is changed; see --doctor';
      this.#log.warn(
        { api: 'portal', operation, question, answer, advice: `PORTAL_UNITS=${advised.join(',')}` },
        message,
      );
    }
  }
}
