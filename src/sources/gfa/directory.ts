import { text } from '../../metrics/samples.ts';
import { entryOf } from '../../runtime/maps.ts';

interface Entry {
  title: string | undefined;
  /** The time of the record with that title, so that a late record does not restore an old title. */
  titleAt: number;
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

  /** Notes that a record contained it. `at` is the record's time in Unix seconds, `now` monotonic milliseconds. */
  see(guid: string, title: unknown, at: number, now: number): void {
    const entry = entryOf(this.#entries, guid, (): Entry => {
      return { title: undefined, titleAt: Number.NEGATIVE_INFINITY, seenAt: now };
    });
    entry.seenAt = now;
    const told = text(title);
    if (told === '' || at < entry.titleAt) return;
    entry.title = told;
    entry.titleAt = at;
  }

  /** Notes that it exists, without a record of its own; has no effect on an unknown guid. */
  confirm(guid: string, now: number): void {
    const entry = this.#entries.get(guid);
    if (entry !== undefined) entry.seenAt = now;
  }

  retire(before: number): void {
    for (const [guid, entry] of this.#entries) if (entry.seenAt < before) this.#entries.delete(guid);
  }

  isNamedSince(guid: string, since: number): boolean {
    return (this.#entries.get(guid)?.seenAt ?? Number.NEGATIVE_INFINITY) >= since;
  }

  has(guid: string): boolean {
    return this.#entries.has(guid);
  }

  state(now: number): readonly SavedEntry[] {
    return [...this.#entries].map(([guid, { title = null, titleAt, seenAt }]) => [guid, title, titleAt, now - seenAt]);
  }

  restore(saved: readonly SavedEntry[], then: number): void {
    for (const [guid, title, titleAt, ageMs] of saved) {
      const entry = { title: title ?? undefined, titleAt: titleAt ?? Number.NEGATIVE_INFINITY, seenAt: then - ageMs };
      this.#entries.set(guid.toLowerCase(), entry);
    }
  }
}

export type SavedEntry = readonly [guid: string, title: string | null, titleAt: number | null, ageMs: number];
