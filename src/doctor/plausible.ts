import { medianOf } from '../metrics/units.ts';
import type { Level } from './finding.ts';

/** What numbers of a service show about a fact that the exporter assumes. They never change how a number is read. */
export interface Verdict {
  readonly level: Level;
  readonly code: string;
  readonly observed: string;
  readonly expected?: string;
  readonly advice?: string;
}

/** An age above this is none: the services are younger. In seconds. */
const MAX_AGE_S = 10 * 365 * 86_400;

/**
 * Whether values can be ages in seconds. `usualS` is the most that the median of a healthy account has: milliseconds of
 * minutes look like seconds of days, so only a limit that is near the usual values finds them.
 */
export function ages(field: string, values: readonly number[], usualS: number): Verdict {
  const median = medianOf(values);
  if (median === undefined) {
    return { level: 'unknown', code: 'no-values', observed: `${field} could not be checked: no record has a value` };
  }
  const impossible = values.filter((value) => value < 0 || value > MAX_AGE_S);
  const observed = `${field}: median ${Math.round(median)}, ${impossible.length} of ${values.length} impossible`;
  if (impossible.length === 0 && median <= usualS) return { level: 'ok', code: 'ages', observed };
  const advice =
    'compare one value with the portal: if the unit is another one, the critical alerts about it are wrong; report it to the maintainers';
  return { level: 'warning', code: 'no-ages', observed, expected: `ages in seconds, usually below ${usualS}`, advice };
}

/** A newest record that is older than this is late, and one further in the future has a wrong time. In seconds. */
const FRESH_S = { oldest: 3_600, future: 300 } as const;

/** Whether the newest record is recent. `ageSeconds` is undefined if no record was received. */
export function freshness(what: string, ageSeconds: number | undefined): Verdict {
  if (ageSeconds === undefined) {
    return { level: 'unknown', code: 'no-record', observed: `${what} could not be checked: no record was received` };
  }
  const observed = `${what} is ${Math.round(ageSeconds)} s old`;
  if (ageSeconds > FRESH_S.oldest) {
    const advice = 'check in the portal whether the appliances report, and when';
    return { level: 'warning', code: 'old', observed, expected: 'at most an hour', advice };
  }
  if (ageSeconds < -FRESH_S.future) {
    const advice = 'check the clocks of this machine and of the appliances';
    return { level: 'warning', code: 'future', observed, expected: 'a time in the past', advice };
  }
  return { level: 'ok', code: 'fresh', observed };
}
