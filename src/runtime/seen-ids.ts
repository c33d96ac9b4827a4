import { createHash } from 'node:crypto';
import { getOrCreate } from './maps.ts';

/** The characters of a hash, 72 bits: among a million ids, two with the same hash are to be expected once in ten billion years. */
const HASH_LENGTH = 12;

/** The longest time for which an id is remembered that is dated in the future. It is far longer than any clock in use is wrong. */
const MAX_AHEAD_MS = 31 * 86_400_000;

/** The saved ids that were delivered last at the same time, in monotonic milliseconds. */
export type SavedIds = readonly [at: number, ids: readonly string[]];

/**
 * Remembers what was counted by its id, so that it counts once however often it is delivered, and whatever its own time is,
 * because the clock behind that time may be corrected. What is dated in the future counts as delivered at its own time,
 * because until then it would count as new.
 *
 * If the memory is full, the ids that were delivered longest ago are evicted, but none of the last two responses. So a
 * response with more ids than there is room for evicts none of its own, and is not counted again when it is repeated.
 */
export class SeenIds {
  readonly #most: number;
  readonly #keepMs: number;
  /** When each id was delivered last, in monotonic milliseconds, in the order of delivery. */
  #delivered = new Map<string, number>();
  #evicted = 0;
  /** The monotonic times of this response and of the one before. */
  #now = 0;
  #before = 0;

  /** `keepMs`: how long an id is remembered after its last delivery. */
  constructor(most: number, keepMs: number) {
    this.#most = most;
    this.#keepMs = keepMs;
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
    const isKnown = this.#delivered.delete(hash);
    if (!isKnown && isLate) return 'late';
    if (!isKnown && this.#delivered.size >= this.#most && !this.#evict()) return 'full';
    this.#delivered.set(hash, this.#now + Math.min(Math.max(0, aheadMs), MAX_AHEAD_MS));
    return isKnown ? 'known' : 'unknown';
  }

  /** Called after a response that was read completely. */
  forget(): void {
    for (const [id, at] of this.#delivered) if (this.#now - at > this.#keepMs) this.#delivered.delete(id);
  }

  save(): readonly SavedIds[] {
    const idsByTime = new Map<number, string[]>();
    for (const [id, at] of this.#delivered) getOrCreate(idsByTime, at, () => []).push(id);
    return [...idsByTime];
  }

  /**
   * Restores ids into a memory that has received no response. `shiftMs` converts another process's monotonic times, and
   * `respondedAt` is when the last response arrived, in those of this process.
   */
  restore(saved: readonly SavedIds[], shiftMs: number, respondedAt: number): void {
    for (const [at, ids] of saved) for (const id of ids) this.#delivered.set(id, at + shiftMs);
    this.begin(respondedAt);
    this.begin(respondedAt);
    while (this.size > this.#most && this.#evict());
    this.#evicted = 0;
  }

  /** Evicts the id that was delivered longest ago. Returns false if all are of the last two responses. */
  #evict(): boolean {
    for (const [id, at] of this.#delivered) {
      // What is dated in the future is not in the order of delivery.
      if (at > this.#now) continue;
      if (at >= this.#before) return false;
      this.#delivered.delete(id);
      this.#evicted += 1;
      return true;
    }
    return false;
  }
}
