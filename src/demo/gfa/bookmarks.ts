import type { Variations } from '../variations.ts';
import { MINUTE_MS } from '../world/waveforms.ts';

/** The two groups whose events are delivered up to a bookmark. */
export type MarkedGroup = 'locks' | 'propagation';

/** How far before the bookmark an overlapping delivery begins. */
const OVERLAP_MS = 3 * MINUTE_MS;

/** The maximum number of client keys; the least recently used one is evicted first. */
const CLIENTS_KEPT = 1_000;

/** The bookmark of each client key, for each group of events. */
export class Bookmarks {
  readonly #marks = new Map<string, ReadonlyMap<MarkedGroup, number>>();

  /** Returns the bookmark of a client, after which its events begin, and moves the bookmark to `now`. */
  advance(client: string, group: MarkedGroup, now: number, variations: Variations): number {
    const marks = this.#marks.get(client) ?? new Map<MarkedGroup, number>();
    const mark = marks.get(group);
    this.#marks.delete(client);
    this.#marks.set(client, new Map(marks).set(group, now));
    for (const oldest of this.#marks.keys()) {
      if (this.#marks.size <= CLIENTS_KEPT) break;
      this.#marks.delete(oldest);
    }
    if (mark === undefined || variations.delivery === 'full') return now - variations.freshHistoryMs;
    return variations.delivery === 'overlapping' ? mark - OVERLAP_MS : mark;
  }
}
