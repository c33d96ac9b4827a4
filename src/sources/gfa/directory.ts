import { keptNumber, keptText } from '../../metrics/restored-values.ts';
import { text } from '../../metrics/samples.ts';

interface Entry {
  /** Null while no record has told one. */
  title: string | null;
  /** The record's own time of that title, so that a late record does not bring an old title back. */
  titleAt: number;
  /** Monotonic milliseconds of the latest answer that named it. */
  seenAt: number;
}

/** The filers, or the volumes, that answers have named: their latest titles, and when they were last named. */
export class Directory {
  readonly #entries = new Map<string, Entry>();

  /** The title by the newest record, or the guid while none has said. */
  titleOf(guid: string): string {
    return this.#entries.get(guid)?.title ?? guid;
  }

  /** Every title that a record has told, by guid. */
  *titles(): Generator<readonly [guid: string, title: string]> {
    for (const [guid, { title }] of this.#entries) if (title !== null) yield [guid, title];
  }

  /** Notes that a record named it. `at` is the record's time in Unix seconds, `now` monotonic milliseconds. */
  see(guid: string, title: unknown, at: number, now: number): void {
    const entry = this.#entries.get(guid);
    const told = title === undefined || title === null ? null : text(title);
    if (entry === undefined) {
      this.#entries.set(guid, { title: told, titleAt: at, seenAt: now });
      return;
    }
    entry.seenAt = now;
    if (told !== null && (entry.title === null || at >= entry.titleAt)) {
      entry.title = told;
      entry.titleAt = at;
    }
  }

  /** Notes that it is there, without a record of its own: keeps one that is known. */
  confirm(guid: string, now: number): void {
    const entry = this.#entries.get(guid);
    if (entry !== undefined) entry.seenAt = now;
  }

  /** Forgets those not named since `before`, in monotonic milliseconds. */
  retire(before: number): void {
    for (const [guid, entry] of this.#entries) if (entry.seenAt < before) this.#entries.delete(guid);
  }

  /** Whether an answer has named it since then, in monotonic milliseconds. */
  isNamedSince(guid: string, since: number): boolean {
    return (this.#entries.get(guid)?.seenAt ?? Number.NEGATIVE_INFINITY) >= since;
  }

  has(guid: string): boolean {
    return this.#entries.has(guid);
  }

  /** What {@link Directory.restore} takes; ages and not moments, for monotonic time does not outlive the process. */
  state(now: number): DirectoryState {
    return [...this.#entries].map(([guid, { title, titleAt, seenAt }]) => [
      guid,
      title,
      Number.isFinite(titleAt) ? titleAt : null,
      now - seenAt,
    ]);
  }

  restore(saved: DirectoryState, now: number): void {
    for (const [guid, title, titleAt, age] of saved) {
      const entry = { title: keptText(title), seenAt: now - keptNumber(age) };
      const at = titleAt === null ? Number.NEGATIVE_INFINITY : keptNumber(titleAt);
      this.#entries.set(keptText(guid), { ...entry, titleAt: at });
    }
  }
}

/** A directory's entries, as kept over restarts. */
export type DirectoryState = readonly (readonly [
  guid: string,
  title: string | null,
  titleAt: number | null,
  ageMs: number,
])[];
