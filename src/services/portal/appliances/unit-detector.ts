import type { ServiceWarning } from '../../../contract/service-warning.ts';
import type { Variant } from '../../../contract/variant.ts';
import type { JsonObject } from '../../../metrics/family.ts';
import { portalQuestions } from '../doctor/questions.ts';
import { detectUnits, recommendedUnits, type UnitEvidence } from './unit-evidence.ts';
import { alternativeUnits, type UnitName } from './units.ts';

/** Collects what responses show about the account's units, and warns if a unit seems to differ. It never changes how a number is read. */
export class UnitDetector {
  readonly #units: readonly UnitName[];
  /** The evidence by question and answer, joined by a space. */
  readonly #evidence = new Map<string, UnitEvidence>();

  constructor(units: readonly UnitName[]) {
    this.#units = units;
  }

  /** The configured and the proven alternatives. */
  get variants(): readonly Variant[] {
    const configured = this.#units.map((unit) => alternativeUnits[unit]);
    const isOpen = ({ question }: Variant) => configured.every((candidate) => candidate.question !== question);
    const proven = [...this.#evidence.values()].filter((candidate) => candidate.isProof && isOpen(candidate));
    return [...configured, ...proven].map(({ question, answer }) => ({ question, answer }));
  }

  observe(operation: string, records: readonly JsonObject[]): void {
    for (const evidence of detectUnits(operation, records)) {
      const { question, answer, isProof } = evidence;
      const key = `${question} ${answer}`;
      if (isProof || !this.#evidence.has(key)) this.#evidence.set(key, evidence);
    }
  }

  get warnings(): readonly ServiceWarning[] {
    return this.answers([]).flatMap(({ question, answer, advice }) => {
      if (advice === undefined) return [];
      const happened = `the account seems to send ${answer.replaceAll('_', ' ')}: ${portalQuestions[question]?.[answer]}`;
      return [{ code: question, happened, advice }];
    });
  }

  /**
   * Returns one answer to each question, for the doctor, with `advice` if `PORTAL_UNITS` states another. `additional`
   * is the evidence of the doctor.
   */
  answers(additional: readonly UnitEvidence[]): readonly (Variant & { readonly advice?: string })[] {
    const evidence = [...this.#evidence.values()];
    const isNew = ({ question }: UnitEvidence) => evidence.every((candidate) => candidate.question !== question);
    evidence.push(...additional.filter(isNew));
    const decisive = [...new Set(evidence.map(({ question }) => question))].flatMap((question) => {
      const ofQuestion = evidence.filter((candidate) => candidate.question === question);
      // Evidence for the documented unit has priority: one fast disk or one small appliance may look like another unit.
      return ofQuestion.find((candidate) => recommendedUnits([], [candidate]).length === 0) ?? ofQuestion[0] ?? [];
    });
    const recommended = recommendedUnits(this.#units, decisive);
    const advice = recommended.length === 0 ? 'unset PORTAL_UNITS' : `set PORTAL_UNITS=${recommended.join(',')}`;
    return decisive.map((evidence) => ({
      question: evidence.question,
      answer: evidence.answer,
      ...(recommendedUnits(this.#units, [evidence]) !== this.#units && { advice }),
    }));
  }
}
