import { labelValue } from '../../metrics/samples.ts';
import { getOrCreate } from '../../runtime/maps.ts';

interface Entry {
  title: string | undefined;
  /** Whether the title is that of a state, which an event, maybe an old one, does not replace. */
  isOfState: boolean;
  /** Monotonic milliseconds of the latest answer that contained it. */
  seenAt: number;
}

export class Directory {
  readonly #entries = new Map<string, Entry>();

  titleOf(guid: string): string {
    return this.#entries.get(guid)?.title || guid;
  }

  *titles(): Generator<readonly [guid: string, title: string]> {
    for (const [guid, { title }] of this.#entries) if (title) yield [guid, title];
  }

  /** Notes that a record contained it, of a state or of an event; `now` in monotonic milliseconds. */
  see(guid: string, title: unknown, isOfState: boolean, now: number): void {
    const entry = getOrCreate(this.#entries, guid, (): Entry => ({ title: undefined, isOfState: false, seenAt: now }));
    entry.seenAt = now;
    const reported = labelValue(title);
    if (reported === '' || (entry.isOfState && !isOfState)) return;
    entry.title = reported;
    entry.isOfState = isOfState;
  }

  /** Notes that it exists, without a record of its own; has no effect on an unknown guid. */
  confirm(guid: string, now: number): void {
    const entry = this.#entries.get(guid);
    if (entry !== undefined) entry.seenAt = now;
  }

  retire(before: number): void {
    for (const [guid, entry] of this.#entries) if (entry.seenAt < before) this.#entries.delete(guid);
  }

  has(guid: string): boolean {
    return this.#entries.has(guid);
  }

  state(now: number): readonly SavedEntry[] {
    return [...this.#entries].map(([guid, { title = null, isOfState, seenAt }]) => [
      guid,
      title,
      isOfState,
      now - seenAt,
    ]);
  }

  restore(saved: readonly SavedEntry[], then: number): void {
    for (const [guid, title, isOfState, ageMs] of saved)
      this.#entries.set(guid, { title: title ?? undefined, isOfState, seenAt: then - ageMs });
  }
}

export type SavedEntry = readonly [guid: string, title: string | null, isOfState: boolean, ageMs: number];
