import { createHash } from 'node:crypto';
import { LargeMap } from './large-map.ts';

/** The characters of a hash, 72 bits: among a million ids, two with the same hash are to be expected once in ten billion years. */
const HASH_LENGTH = 12;

/** The longest time for which an id is remembered that is dated in the future. It is far longer than any clock in use is wrong. */
const MAX_AHEAD_MS = 31 * 86_400_000;

/** A saved entry holds ids that were delivered at the same time, at most this many. */
const IDS_PER_ENTRY = 50;

/** Ids with the time of their last delivery, in monotonic milliseconds. */
export type SavedIds = readonly [at: number, ids: readonly string[]];

/**
 * Remembers what was counted by its id, so that it counts once however often it is delivered, and whatever its own time is,
 * because the clock behind that time may be corrected. What is dated in the future counts as delivered at its own time,
 * because until then it would count as new.
 *
 * If the memory is full, the ids that were delivered longest ago are evicted, but none of the last two responses. So a
 * response with more ids than there is room for evicts none of its own, and is not counted again when it is repeated.
 *
 * Only the first delivery of an id is a change that is saved: ids that every response delivers cost nothing.
 */
export class SeenIds {
  readonly #most: number;
  readonly #keepMs: number;
  /** When each id was delivered last, in monotonic milliseconds. Each part is in the order of delivery. */
  readonly #delivered: LargeMap<string, number>;
  #added: (readonly [id: string, at: number])[] = [];
  #evicted = 0;
  /** The monotonic times of this response and of the one before. */
  #now = 0;
  #before = 0;

  /** `keepMs`: how long an id is remembered after its last delivery. `parts`: into how many maps the ids are divided. */
  constructor(most: number, keepMs: number, parts = 1) {
    this.#most = most;
    this.#keepMs = keepMs;
    this.#delivered = new LargeMap(spread, parts);
  }

  get size(): number {
    return this.#delivered.size;
  }

  /** How many ids were evicted because the memory was full. It never decreases. */
  get evicted(): number {
    return this.#evicted;
  }

  /** Called at the beginning of a response; `now` in monotonic milliseconds. */
  begin(now: number): void {
    this.#before = this.#now;
    this.#now = now;
  }

  /**
   * Records that this response delivers an id. `aheadMs`: by how much it is dated after the response. `late` or `full`: it
   * is neither known nor remembered now.
   */
  deliver(id: string, aheadMs = 0, isLate = false): 'known' | 'unknown' | 'late' | 'full' {
    const hash = createHash('sha256').update(id).digest('base64').slice(0, HASH_LENGTH);
    const isKnown = this.#delivered.has(hash);
    if (!isKnown && isLate) return 'late';
    if (!isKnown && this.#delivered.size >= this.#most && !this.#evict()) return 'full';
    const at = this.#now + Math.min(Math.max(0, aheadMs), MAX_AHEAD_MS);
    this.#put(hash, at);
    if (isKnown) return 'known';
    this.#added.push([hash, at]);
    // If nothing takes the added ids, they are not collected.
    if (this.#added.length > this.#most) this.#added = [];
    return 'unknown';
  }

  /** Called after a response that was read completely. Yields where it may be interrupted. */
  *forget(): Generator<void> {
    for (const part of this.#delivered.parts) {
      yield;
      for (const [id, at] of part) {
        // What is dated in the future is not in the order of delivery.
        if (at > this.#now) continue;
        if (this.#now - at <= this.#keepMs) break;
        this.#delivered.delete(id);
      }
    }
  }

  all(): Iterable<SavedIds> {
    return grouped(this.#delivered.entries());
  }

  /** What was added since the last call. */
  takeAdded(): Iterable<SavedIds> {
    const added = this.#added;
    this.#added = [];
    return grouped(added);
  }

  /** Restores ids into a memory that has received no response. `shiftMs` converts another process's monotonic times. */
  restore([at, ids]: SavedIds, shiftMs: number): void {
    for (const id of ids) this.#put(id, at + shiftMs);
  }

  /** Called after all ids are restored. `respondedAt`: when the last response arrived. */
  finishRestoring(respondedAt: number): void {
    this.begin(respondedAt);
    this.begin(respondedAt);
    while (this.size > this.#most && this.#evict());
    this.#evicted = 0;
  }

  #put(id: string, at: number): void {
    this.#delivered.delete(id);
    this.#delivered.set(id, at);
  }

  /** Evicts the id that was delivered longest ago. Returns false if all are of the last two responses. */
  #evict(): boolean {
    let [oldest, oldestAt] = ['', this.#before];
    for (const part of this.#delivered.parts) {
      for (const [id, at] of part) {
        if (at > this.#now) continue;
        if (at < oldestAt) [oldest, oldestAt] = [id, at];
        break;
      }
    }
    if (oldest === '') return false;
    this.#delivered.delete(oldest);
    this.#evicted += 1;
    return true;
  }
}

/** Hashes are in base64, so that their first letters are spread evenly. */
function spread(hash: string): number {
  return (hash.charCodeAt(0) % 64) / 64;
}

/** Ids that follow each other and were delivered at the same time are one entry. */
function* grouped(delivered: Iterable<readonly [id: string, at: number]>): Generator<SavedIds> {
  let ids: string[] = [];
  let groupAt = 0;
  for (const [id, at] of delivered) {
    if (ids.length > 0 && (at !== groupAt || ids.length === IDS_PER_ENTRY)) {
      yield [groupAt, ids];
      ids = [];
    }
    groupAt = at;
    ids.push(id);
  }
  if (ids.length > 0) yield [groupAt, ids];
}
