import type { Note } from '../metrics/note.ts';
import type { ClockSkew } from '../transport/clock-skew.ts';
import type { Pacer } from '../transport/rate/pacer.ts';

/** What the answers of any service show about it, and what the service tells of itself. */
export function notesOf(skew: ClockSkew, pacer: Pacer, own: readonly Note[] = []): readonly Note[] {
  const { ms = 0, isLarge } = skew;
  const notes: Note[] = [];
  if (isLarge) {
    const difference = `about ${10 * Math.round(Math.abs(ms) / 10_000)} s ${ms > 0 ? 'behind' : 'ahead of'}`;
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
