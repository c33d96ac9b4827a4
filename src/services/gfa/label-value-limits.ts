import type { JsonObject } from '../../metrics/family.ts';
import { LabelValueLimit } from '../../metrics/label-limit.ts';
import { enumLabelValue, type ReportDrop } from '../../metrics/samples.ts';
import { ENUM_FIELDS } from './families.ts';

/** Limits the label values that records bring: the first values of each field are kept, later ones become `other`. */
export class LabelValueLimits {
  readonly #limits = new Map(ENUM_FIELDS.map((field) => [field, new LabelValueLimit()]));

  limited(record: JsonObject, reportDrop: ReportDrop): JsonObject {
    const limited: Record<string, unknown> = { ...record };
    for (const [field, limit] of this.#limits) {
      const received = record[field];
      if (received === undefined || received === null) continue;
      const value = enumLabelValue(received);
      const kept = limit.admit(value);
      limited[field] = kept;
      if (kept !== value) reportDrop('label', field);
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
