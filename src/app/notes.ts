import type { Note } from '../metrics/note.ts';
import type { Pacer } from '../transport/rate/pacer.ts';
import type { ServiceClock } from '../transport/service-clock.ts';

/** What the answers of any service show about it, and what the service tells of itself. */
export function notesOf(serviceClock: ServiceClock, pacer: Pacer, own: readonly Note[] = []): readonly Note[] {
  const { skewMs = 0, isSkewed } = serviceClock;
  const notes: Note[] = [];
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
