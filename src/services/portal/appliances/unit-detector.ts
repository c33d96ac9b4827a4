import type { Variant } from '../../../contract/variant.ts';
import type { JsonObject } from '../../../metrics/family.ts';
import type { Log } from '../../../runtime/log.ts';
import { detectUnits, recommendedUnits, type UnitEvidence } from './unit-evidence.ts';
import { alternativeUnits, type UnitName } from './units.ts';

/** What answers show of the account's units: tells once if one seems to be another; no number is read differently by it. */
export class UnitDetector {
  readonly #units: readonly UnitName[];
  readonly #log: Log;
  /** By question and answer. */
  readonly #shown = new Map<string, UnitEvidence>();

  constructor(units: readonly UnitName[], log: Log) {
    this.#units = units;
    this.#log = log;
  }

  /** Configured or proven. */
  get variants(): readonly Variant[] {
    const configured = this.#units.map((unit) => alternativeUnits[unit]);
    const isOpen = ({ question }: Variant) => configured.every((one) => one.question !== question);
    const proven = [...this.#shown.values()].filter((one) => one.isProof && isOpen(one));
    return [...configured, ...proven].map(({ question, answer }) => ({ question, answer }));
  }

  observe(operation: string, records: readonly JsonObject[]): void {
    for (const evidence of detectUnits(operation, records)) {
      const { question, answer, isProof } = evidence;
      const key = `${question} ${answer}`;
      const isKnown = this.#shown.has(key);
      if (isProof || !isKnown) this.#shown.set(key, evidence);
      const advised = recommendedUnits(this.#units, [evidence]);
      if (isKnown || advised === this.#units) continue;
      const message = 'values look like another unit than the one they are read in; no value is changed; see --doctor';
      this.#log.warn(
        { api: 'portal', operation, question, answer, advice: `PORTAL_UNITS=${advised.join(',')}` },
        message,
      );
    }
  }

  /** One for each question, for the doctor; `advice` where `PORTAL_UNITS` says another. `asked`: what it found besides. */
  answers(asked: readonly UnitEvidence[]): readonly (Variant & { readonly advice?: string })[] {
    const shown = [...this.#shown.values()];
    const isNew = ({ question }: UnitEvidence) => shown.every((one) => one.question !== question);
    shown.push(...asked.filter(isNew));
    const told = [...new Set(shown.map(({ question }) => question))].flatMap((question) => {
      const own = shown.filter((one) => one.question === question);
      // One disk may be so fast, or one appliance so small, that its values fit another unit too.
      return own.find((one) => recommendedUnits([], [one]).length === 0) ?? own[0] ?? [];
    });
    const all = recommendedUnits(this.#units, told);
    const advice = all.length === 0 ? 'unset PORTAL_UNITS' : `set PORTAL_UNITS=${all.join(',')}`;
    return told.map((evidence) => ({
      question: evidence.question,
      answer: evidence.answer,
      ...(recommendedUnits(this.#units, [evidence]) !== this.#units && { advice }),
    }));
  }
}
