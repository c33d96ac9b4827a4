import type { JsonObject } from '../../metrics/family.ts';
import { LabelValueLimit } from '../../metrics/label-limit.ts';
import { enumLabelValue, type ReportDrop } from '../../metrics/samples.ts';

export const ENUM_FIELDS = ['kind', 'lock_phase', 'lock_state', 'mode', 'profile'];

/** The words of records that become label values: of each field the first ones as they are, all later ones `other`. */
export class LabelValueLimits {
  readonly #limits = new Map(ENUM_FIELDS.map((field) => [field, new LabelValueLimit()]));

  limited(record: JsonObject, reportDrop: ReportDrop): JsonObject {
    const limited: Record<string, unknown> = { ...record };
    for (const [field, limit] of this.#limits) {
      const value = record[field];
      if (value === undefined || value === null) continue;
      const word = enumLabelValue(value);
      const kept = limit.admit(word);
      limited[field] = kept;
      if (kept !== word) reportDrop('label', field);
    }
    return limited;
  }

  state(): Readonly<Record<string, readonly string[]>> {
    return Object.fromEntries([...this.#limits].map(([field, limit]) => [field, limit.state()]));
  }

  restore(words: ReturnType<LabelValueLimits['state']>): void {
    for (const [field, limit] of this.#limits) limit.restore(words[field] ?? []);
  }
}
