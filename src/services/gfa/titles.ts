import { labelValue } from '../../metrics/samples.ts';
import { getOrCreate } from '../../runtime/maps.ts';

interface Entry {
  title: string | undefined;
  /** Whether the title is from a state record. An event does not replace it, because the event may be old. */
  isOfState: boolean;
  /** When the latest response that named the guid was read, in monotonic milliseconds. */
  seenAt: number;
}

export type SavedTitle = readonly [guid: string, title: string | null, isOfState: boolean, seenAt: number];

/** The titles of filers or of volumes by guid, and when a response has named each last. The empty guid stands for none and is always there. */
export class Titles {
  readonly #entries = new Map<string, Entry>();

  has(guid: string): boolean {
    return guid === '' || this.#entries.has(guid);
  }

  /** Whether no response has named a guid since `before`, in monotonic milliseconds. */
  isMissingSince(guid: string, before: number): boolean {
    return guid !== '' && (this.#entries.get(guid)?.seenAt ?? Number.NEGATIVE_INFINITY) < before;
  }

  titleOf(guid: string): string {
    return this.#entries.get(guid)?.title || guid;
  }

  *titles(): Generator<readonly [guid: string, title: string | undefined]> {
    for (const [guid, { title }] of this.#entries) yield [guid, title || undefined];
  }

  /** Called for each record, of a state or of an event, that names the guid. `now`: monotonic milliseconds. */
  see(guid: string, title: unknown, isOfState: boolean, now: number): void {
    if (guid === '') return;
    const entry = getOrCreate(this.#entries, guid, (): Entry => ({ title: undefined, isOfState: false, seenAt: now }));
    entry.seenAt = now;
    const reported = labelValue(title);
    if (reported === '' || (entry.isOfState && !isOfState)) return;
    entry.title = reported;
    entry.isOfState = isOfState;
  }

  /** Called for a guid that a response names without a record. An unknown guid is ignored. */
  confirm(guid: string, now: number): void {
    const entry = this.#entries.get(guid);
    if (entry !== undefined) entry.seenAt = now;
  }

  removeBefore(before: number): void {
    for (const [guid, { seenAt }] of this.#entries) if (seenAt < before) this.#entries.delete(guid);
  }

  save(): readonly SavedTitle[] {
    return Array.from(this.#entries, ([guid, { title = null, isOfState, seenAt }]) => [guid, title, isOfState, seenAt]);
  }

  restore(saved: readonly SavedTitle[], shiftMs: number): void {
    for (const [guid, title, isOfState, seenAt] of saved) {
      this.#entries.set(guid, { title: title ?? undefined, isOfState, seenAt: seenAt + shiftMs });
    }
  }
}
