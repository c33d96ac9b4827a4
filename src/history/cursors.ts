import type { Fields } from '../metrics/family.ts';
import * as schema from '../metrics/state-schema.ts';
import { entryOf } from '../runtime/maps.ts';
import { type Cursor, LONGEST_PAST_MS } from './new-points.ts';

/** The one place that knows what has arrived, by task: everything up to its cursor that was not counted as lost. */
export class HistoryCursors {
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
    return entryOf(this.#cursors, task, () => ({ at, sum: undefined }));
  }

  arrived(task: string, cursor: Cursor): void {
    this.pass(task, cursor);
    this.#newest = Math.max(cursor.at, this.#newest ?? cursor.at);
  }

  /** Moves a cursor forward; an older one changes nothing. */
  pass(task: string, cursor: Cursor): void {
    const now = this.#cursors.get(task);
    if (now === undefined || cursor.at > now.at) this.#cursors.set(task, cursor);
  }

  /**
   * The newest bin that has arrived of any task, in milliseconds since the Unix epoch; as long as none has, when history
   * began.
   */
  get newest(): number | undefined {
    return this.#newest ?? this.#begun;
  }

  state(): Fields {
    const all = [...this.#cursors];
    const last = all.reduce((most, [, { at }]) => Math.max(most, at), 0);
    // An older cursor has no use: the service does not keep history for so long.
    const kept = all.filter(([, { at }]) => last - at < LONGEST_PAST_MS);
    const [begun, newest] = [this.#begun, this.#newest].map((one) => momentSchema.write(one));
    return { cursors: cursorsSchema.write(new Map(kept)), begun, newest };
  }

  /** Returns the function that applies a saved state. */
  restore(saved: Fields): () => void {
    const cursors = cursorsSchema.read(saved.cursors);
    const [begun, newest] = [saved.begun, saved.newest].map((one) => momentSchema.read(one ?? null));
    return () => {
      this.#begun = begun;
      this.#newest = newest;
      for (const [task, cursor] of cursors) this.pass(task, cursor);
    };
  }
}

const cursorsSchema = schema.table<Cursor>({ at: schema.number(), sum: schema.optional(schema.number()) });
const momentSchema = schema.optional(schema.number());
