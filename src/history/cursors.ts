import * as schema from '../metrics/state-schema.ts';
import { type Cursor, LONGEST_PAST_MS } from './new-points.ts';

/** The newest point that has arrived, by task. */
export class HistoryCursors {
  readonly #cursors = new Map<string, Cursor>();
  #newest: number | undefined;

  of(task: string): Cursor | undefined {
    return this.#cursors.get(task);
  }

  /** Moves a cursor forward; an older one changes nothing. */
  advance(task: string, cursor: Cursor): void {
    const now = this.#cursors.get(task);
    if (now !== undefined && cursor.at <= now.at) return;
    this.#cursors.set(task, cursor);
    this.#newest = Math.max(cursor.at, this.#newest ?? cursor.at);
  }

  /** The newest bin that has arrived of any task, in milliseconds since the Unix epoch. */
  get newest(): number | undefined {
    return this.#newest;
  }

  state(now: number): unknown {
    // An older cursor has no use: the service does not keep history for so long.
    return cursorsSchema.write(new Map([...this.#cursors].filter(([, { at }]) => now - at < LONGEST_PAST_MS)));
  }

  /** Returns the function that applies a saved state. */
  restore(saved: unknown): () => void {
    const cursors = cursorsSchema.read(saved);
    return () => {
      for (const [task, cursor] of cursors) this.advance(task, cursor);
    };
  }
}

const cursorsSchema = schema.table<Cursor>({ at: schema.number(), sum: schema.optional(schema.number()) });
