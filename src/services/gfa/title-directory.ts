import { labelValue } from '../../metrics/samples.ts';
import { getOrCreate } from '../../runtime/maps.ts';

interface Entry {
  title: string | undefined;
  /** Whether the title is from a state record. An event does not replace it, because the event may be old. */
  isOfState: boolean;
  /** When the latest response that named the guid was read, in monotonic milliseconds. */
  seenAt: number;
}

/** The titles of filers or of volumes, by guid. The empty guid stands for none: it is always there, and is never saved. */
export class TitleDirectory {
  readonly #maxEntries: number;
  readonly #entries = new Map<string, Entry>();

  constructor(maxEntries: number) {
    this.#maxEntries = maxEntries;
  }

  /** Whether update() may be called for the guid: it is present, or the maximum is not reached. */
  canSee(guid: string): boolean {
    return this.has(guid) || this.#entries.size < this.#maxEntries;
  }

  titleOf(guid: string): string {
    return this.#entries.get(guid)?.title || guid;
  }

  *titles(): Generator<readonly [guid: string, title: string | undefined]> {
    for (const [guid, { title }] of this.#entries) yield [guid, title || undefined];
  }

  /** Called for each record, of a state or of an event, that names the guid. `now`: monotonic milliseconds. */
  update(guid: string, title: unknown, isOfState: boolean, now: number): void {
    if (guid === '') return;
    const entry = getOrCreate(this.#entries, guid, (): Entry => ({ title: undefined, isOfState: false, seenAt: now }));
    entry.seenAt = now;
    const reported = labelValue(title);
    if (reported === '' || (entry.isOfState && !isOfState)) return;
    entry.title = reported;
    entry.isOfState = isOfState;
  }

  /** Called for a guid that a response names without a record. An unknown guid is ignored. */
  touch(guid: string, now: number): void {
    const entry = this.#entries.get(guid);
    if (entry === undefined) return;
    entry.seenAt = now;
  }

  removeBefore(before: number): void {
    for (const [guid, entry] of this.#entries) {
      if (entry.seenAt >= before) continue;
      this.#entries.delete(guid);
    }
  }

  has(guid: string): boolean {
    return guid === '' || this.#entries.has(guid);
  }

  guids(): Iterable<string> {
    return this.#entries.keys();
  }

  saved(guid: string): SavedEntry {
    const entry = this.#entries.get(guid);
    return [entry?.title ?? null, entry?.isOfState ?? false, entry?.seenAt ?? 0];
  }

  restore(guid: string, [title, isOfState, seenAt]: SavedEntry, shiftMs: number): void {
    this.#entries.set(guid, { title: title ?? undefined, isOfState, seenAt: seenAt + shiftMs });
  }
}

export type SavedEntry = readonly [title: string | null, isOfState: boolean, seenAt: number];
