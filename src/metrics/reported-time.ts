/**
 * The one place that turns a time reported by a service into one that is believed: a time later than the service's measured
 * clock when it arrived counts as that moment, and every other time counts as it was reported. Both in Unix seconds.
 */
export function believedTime(reported: number, now: number): number {
  return Math.min(reported, now);
}
