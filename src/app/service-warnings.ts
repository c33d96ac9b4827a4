import type { ServiceWarning } from '../contract/service-warning.ts';
import type { RequestQueue } from '../transport/rate/request-queue.ts';
import type { ServiceClock } from '../transport/service-clock.ts';

/** What the answers of any service show about it, and what the service tells of itself. */
export function serviceWarnings(
  serviceClock: ServiceClock,
  pacer: RequestQueue,
  own: readonly ServiceWarning[] = [],
): readonly ServiceWarning[] {
  const { skewMs = 0, isSkewed } = serviceClock;
  const notes: ServiceWarning[] = [];
  if (isSkewed) {
    const difference = `about ${10 * Math.round(Math.abs(skewMs) / 10_000)} s ${skewMs > 0 ? 'behind' : 'ahead of'}`;
    const message = `The clock of this machine is ${difference} that of the service: set it, for instance by NTP; ages have the same error.`;
    notes.push({ code: 'clock_skew', message });
  }
  if (pacer.isThrottled) {
    const message =
      'The service rejects many requests (429): other tools use the same limit, or it is lower than configured. The pace stays below it.';
    notes.push({ code: 'throttled', message });
  }
  return [...notes, ...own];
}
