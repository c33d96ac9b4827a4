import { getOrCreate } from '../runtime/maps.ts';
import type { Persisted } from '../runtime/persisted.ts';
import { type Cursor, MAX_PAST_MS } from './new-points.ts';

/** The one place that knows what has arrived, by task: everything up to its cursor that was not counted as lost. */
export class HistoryCursors implements Persisted {
  readonly #cursors = new Map<string, Cursor>();
  #newest: number | undefined;
  /** When history began, for the tasks that are polled for the first time later. */
  #begun: number | undefined;

  of(task: string): Cursor | undefined {
    return this.#cursors.get(task);
  }

  /** The cursor of a task; a new one begins where history did, but not before `earliest`. */
  begin(task: string, begun: number, earliest: number): Cursor {
    this.#begun ??= begun;
    const at = Math.max(this.#begun, earliest);
    return getOrCreate(this.#cursors, task, () => ({ at, sum: undefined }));
  }

  arrived(task: string, cursor: Cursor): void {
    this.pass(task, cursor);
    this.#newest = Math.max(cursor.at, this.#newest ?? cursor.at);
  }

  pass(task: string, cursor: Cursor): void {
    const now = this.#cursors.get(task);
    if (now === undefined || cursor.at > now.at) this.#cursors.set(task, cursor);
  }

  /** The newest bin that has arrived of any task, in epoch milliseconds; as long as none has, when history began. */
  get newest(): number | undefined {
    return this.#newest ?? this.#begun;
  }

  state(): readonly [CursorsState] {
    const all = [...this.#cursors];
    const last = all.reduce((most, [, { at }]) => Math.max(most, at), 0);
    // An older cursor has no use: the service does not keep history for so long.
    const young = all.filter(([, { at }]) => last - at < MAX_PAST_MS);
    const cursors = young.map(([task, { at, sum = null }]) => [task, at, sum] as const);
    return [{ cursors, begun: this.#begun ?? null, newest: this.#newest ?? null }];
  }

  *restore([saved]: readonly unknown[]): Generator<void> {
    const { cursors, begun, newest } = saved as CursorsState;
    this.#begun = begun ?? undefined;
    this.#newest = newest ?? undefined;
    for (const [task, at, sum] of cursors) {
      this.pass(task, { at, sum: sum ?? undefined });
      yield;
    }
  }
}

interface CursorsState {
  readonly cursors: readonly (readonly [task: string, at: number, sum: number | null])[];
  /** Missing in files of earlier versions. */
  readonly begun?: number | null;
  readonly newest?: number | null;
}
