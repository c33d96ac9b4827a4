import type { Kept } from '../../src/contract/kept.ts';

/** What another process reads of a part: the pieces, through JSON. */
export function readAgain(pieces: Iterable<unknown>): readonly unknown[] {
  return JSON.parse(JSON.stringify([...pieces]));
}

/** Restores in one part what another has kept, as another process does. */
export function restoreInto(part: Pick<Kept, 'restore'>, pieces: Iterable<unknown>, shiftMs = 0, elapsedMs = 0): void {
  const restoration = part.restore(shiftMs, elapsedMs);
  for (const piece of readAgain(pieces)) restoration.put(piece);
  restoration.commit();
}
