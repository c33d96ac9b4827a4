import { decimal } from '../../../metrics/units.ts';
import type { Variant } from '../../../metrics/variant.ts';
import type { Exchange } from '../../../transport/client.ts';
import { fieldsIn, recordsIn } from '../records.ts';
import { otherUnits, type UnitName, unitNames } from './account-units.ts';
import { advisedUnits, type UnitEvidence, unitsIn } from './unit-evidence.ts';

/** With this many shares of processors and caches, none above 1, an account may send ratios. */
const SHARES = 10;

/** One for each question; `advice` where `PORTAL_UNITS` says another. `counts`: the answer to that question. */
export function unitAnswers(
  units: readonly UnitName[],
  exchanges: readonly Exchange[],
  counts: string | undefined,
): readonly (Variant & { readonly advice?: string })[] {
  const answered = exchanges.filter(({ status }) => status === 200);
  const shown = answered.flatMap(({ operation, body }) => unitsIn(operation, recordsIn(fieldsIn(body).items)));
  if (shown.every(({ question }) => question !== 'ratio_unit')) shown.push(...byShares(answered));
  if (counts !== undefined) shown.push({ question: 'counts', answer: counts, isProof: true });
  const told = [...new Set(shown.map(({ question }) => question))].flatMap((question) => {
    const own = shown.filter((one) => one.question === question);
    // One disk may be so fast, or one appliance so small, that its values fit another unit too.
    return own.find(({ answer }) => !isOther(question, answer)) ?? own[0] ?? [];
  });
  const all = advisedUnits(units, told);
  const advice = all.length === 0 ? 'unset PORTAL_UNITS' : `set PORTAL_UNITS=${all.join(',')}`;
  return told.map((evidence) => ({
    ...{ question: evidence.question, answer: evidence.answer },
    ...(advisedUnits(units, [evidence]) !== units && { advice }),
  }));
}

function isOther(question: string, answer: string): boolean {
  return unitNames.some((name) => otherUnits[name].question === question && otherUnits[name].answer === answer);
}

/** For appliances whose memory does not tell, as it does from build 10.0.4. */
function byShares(answered: readonly Exchange[]): readonly UnitEvidence[] {
  const shares = answered
    .flatMap(({ body }) => recordsIn(fieldsIn(body).items))
    .flatMap(({ cpu_usage, cache_utilization }) => decimal(cpu_usage) ?? decimal(cache_utilization) ?? [])
    .filter((share) => share > 0);
  if (shares.some((share) => share > 1)) return [{ question: 'ratio_unit', answer: 'percent', isProof: true }];
  return shares.length < SHARES ? [] : [{ question: 'ratio_unit', answer: 'ratio', isProof: false }];
}
