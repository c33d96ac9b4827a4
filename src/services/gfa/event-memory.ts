import { createHash } from 'node:crypto';
import { LargeMap } from '../../runtime/large-map.ts';
import { getOrCreate } from '../../runtime/maps.ts';

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

/** The longest time for which an event is remembered that is dated in the future. It is far longer than any clock in use is wrong. */
const MAX_AHEAD_MS = 31 * DAY_MS;

/** The characters of a hash, 72 bits: among a million events, two with the same id are to be expected once in ten billion years. */
const ID_LENGTH = 12;

/** The number of ids in one piece of the state file. */
const IDS_PER_PIECE = 500;

/** The number of ids that are read between two interruptions. */
const IDS_PER_STEP = 200;

/** The lists of the hours are rebuilt when they have this many more entries than there are events. */
const MAX_STALE_ENTRIES = 10_000;

/** A piece of the state file. */
interface Piece {
  /** The monotonic time from which hours are counted, in milliseconds. */
  readonly epoch?: number;
  /** Events that the last response delivered. */
  readonly new?: readonly string[];
  /** Those of `new` that are dated in the future, with the hour of their date. */
  readonly ahead?: readonly (readonly [id: string, hour: number])[];
  /** Events that the last response no longer delivered, by the hour of their last delivery. */
  readonly left?: readonly (readonly [hour: number, ids: readonly string[]])[];
}

/**
 * Remembers each delivered event for a day from its last delivery, so that it counts once however often it is delivered.
 * It is not documented whether the service sends only new events, overlapping windows, or everything each time.
 *
 * An event either was delivered by the last response, or it left in a known hour. Events that every response delivers
 * therefore cost nothing to save, and the oldest events are found without sorting. An event that is dated in the future
 * does not leave before its own time, because until then it would count as new.
 *
 * When the memory is full, the events that left first are evicted, but none of the last two responses. So a response with
 * more events than there is room for evicts none of its own, and is not counted again when it is repeated.
 */
export class EventMemory {
  readonly #limit: number;
  /** By id: the hour in which the event left, or the negative number of the response that delivered it last. */
  readonly #events = new LargeMap<string, number>(spread);
  /** The ids that left in each hour. An id that was delivered again remains in its list, and is ignored. */
  readonly #hours = new Map<number, string[]>();
  /** The number of ids in the lists of the hours. */
  #listedIds = 0;
  readonly #futureHours = new Map<string, number>();
  #response = 1;
  /** The monotonic times of this response and the one before, in milliseconds. */
  #respondedAt = 0;
  #previousAt = 0;
  #delivered: string[] = [];
  #previouslyDelivered: string[] = [];
  #epoch = 0;
  #evicted = 0;
  #newIds: string[] = [];
  #leftIds: string[] = [];

  constructor(limit: number) {
    this.#limit = limit;
  }

  get size(): number {
    return this.#events.size;
  }

  /** How many events were evicted because the limit was reached. It never decreases. */
  get evicted(): number {
    return this.#evicted;
  }

  /** Called at the beginning of a response; `now` in monotonic milliseconds. */
  begin(now: number): void {
    this.#previousAt = this.#respondedAt;
    this.#respondedAt = now;
    this.#response += 1;
    this.#previouslyDelivered = this.#delivered;
    this.#delivered = [];
    this.#clearChanges();
  }

  /**
   * Records that this response delivers an event. `aheadMs`: by how much the event is dated after the response. `late` or
   * `full`: it is neither known nor remembered now.
   */
  deliver(identity: string, aheadMs = 0, isLate = false): 'known' | 'unknown' | 'late' | 'full' {
    const id = createHash('sha256').update(identity).digest('base64').slice(0, ID_LENGTH);
    const before = this.#events.get(id);
    if (before === -this.#response) return 'known';
    if (before === undefined && isLate) return 'late';
    if (before === undefined && this.#events.size >= this.#limit && !this.#evict()) return 'full';
    this.#events.set(id, -this.#response);
    this.#delivered.push(id);
    if (before === undefined || before >= 0) {
      this.#newIds.push(id);
      if (aheadMs > 0) this.#futureHours.set(id, this.#hourOf(this.#respondedAt + Math.min(aheadMs, MAX_AHEAD_MS)));
    }
    return before === undefined ? 'unknown' : 'known';
  }

  /** Called at the end of a response: events that it no longer delivered leave, and those that left a day ago are forgotten. */
  *end(): Generator<void> {
    const hour = this.#hourOf(this.#previousAt);
    for (const [index, id] of this.#previouslyDelivered.entries()) {
      if (index % IDS_PER_STEP === 0) yield;
      if (this.#events.get(id) !== 1 - this.#response) continue;
      this.#leave(id, Math.max(hour, this.#futureHours.get(id) ?? hour));
      this.#leftIds.push(id);
    }
    this.#previouslyDelivered = [];
    yield* this.#forget(this.#hourOf(this.#respondedAt - DAY_MS));
    if (this.#listedIds > this.#events.size + MAX_STALE_ENTRIES) yield* this.#rebuildHours();
  }

  /** What the last response changed. A second call yields nothing. */
  *changes(): Generator<Piece> {
    for (const ids of inChunks(this.#newIds)) yield this.#newPiece(ids);
    yield* this.#leftPieces(this.#leftIds);
    this.#clearChanges();
  }

  *all(): Generator<Piece> {
    yield { epoch: this.#epoch };
    for (const ids of this.#hours.values()) yield* this.#leftPieces(ids);
    for (const ids of inChunks(this.#delivered))
      yield this.#newPiece(ids.filter((id) => this.#events.get(id) === -this.#response));
  }

  /** Restores a piece, into a memory that has received no response. `shiftMs` converts another process's monotonic times. */
  put({ epoch, new: ids = [], ahead = [], left = [] }: Piece, shiftMs: number): void {
    if (epoch !== undefined) this.#epoch = epoch + shiftMs;
    for (const id of ids) {
      this.#events.set(id, -this.#response);
      this.#delivered.push(id);
    }
    for (const [id, hour] of ahead) this.#futureHours.set(id, hour);
    for (const [hour, leftIds] of left) for (const id of leftIds) this.#leave(id, hour);
    while (this.#events.size > this.#limit && this.#evict());
  }

  /** Called after all pieces. `respondedAt`: when the last response was read, which is when its events leave. */
  finishRestoring(respondedAt: number): void {
    this.#respondedAt = respondedAt;
    this.#evicted = 0;
  }

  #clearChanges(): void {
    this.#newIds = [];
    this.#leftIds = [];
  }

  #newPiece(ids: readonly string[]): Piece {
    const ahead = this.#futureHours.size === 0 ? [] : ids.flatMap((id) => this.#futureHourOf(id));
    return ahead.length === 0 ? { new: ids } : { new: ids, ahead };
  }

  #futureHourOf(id: string): readonly (readonly [string, number])[] {
    const hour = this.#futureHours.get(id);
    return hour === undefined ? [] : [[id, hour]];
  }

  *#leftPieces(leftIds: readonly string[]): Generator<Piece> {
    for (const ids of inChunks(leftIds)) {
      const byHour = new Map<number, string[]>();
      for (const id of ids) {
        const hour = this.#events.get(id);
        if (hour !== undefined && hour >= 0) getOrCreate(byHour, hour, () => []).push(id);
      }
      yield { left: [...byHour] };
    }
  }

  #leave(id: string, hour: number): void {
    this.#events.set(id, hour);
    this.#futureHours.delete(id);
    getOrCreate(this.#hours, hour, () => []).push(id);
    this.#listedIds += 1;
  }

  *#forget(before: number): Generator<void> {
    for (const [hour, ids] of this.#hours) {
      if (hour >= before) continue;
      for (const [index, id] of ids.entries()) {
        if (index % IDS_PER_STEP === 0) yield;
        if (this.#events.get(id) === hour) this.#events.delete(id);
      }
      this.#hours.delete(hour);
      this.#listedIds -= ids.length;
    }
  }

  /** Rebuilds the lists of the hours, without the ids that were delivered again. */
  *#rebuildHours(): Generator<void> {
    this.#hours.clear();
    this.#listedIds = 0;
    for (const [id, hour] of this.#events.entries()) {
      if (hour < 0) continue;
      getOrCreate(this.#hours, hour, () => []).push(id);
      this.#listedIds += 1;
      if (this.#listedIds % IDS_PER_STEP === 0) yield;
    }
  }

  /** Evicts an event that left first. Returns false if no event has left. */
  #evict(): boolean {
    while (this.#hours.size > 0) {
      const hour = Math.min(...this.#hours.keys());
      const ids = this.#hours.get(hour) ?? [];
      for (let id = ids.pop(); id !== undefined; id = ids.pop()) {
        this.#listedIds -= 1;
        if (this.#events.get(id) !== hour) continue;
        this.#events.delete(id);
        this.#evicted += 1;
        return true;
      }
      this.#hours.delete(hour);
    }
    return false;
  }

  #hourOf(at: number): number {
    return Math.max(0, Math.floor((at - this.#epoch) / HOUR_MS));
  }
}

/** Ids are digests in base64, so that their first letters are spread evenly. */
function spread(id: string): number {
  return (id.charCodeAt(0) % 64) / 64;
}

function* inChunks(ids: readonly string[]): Generator<readonly string[]> {
  for (let from = 0; from < ids.length; from += IDS_PER_PIECE) yield ids.slice(from, from + IDS_PER_PIECE);
}
