import { createHash } from 'node:crypto';
import { getOrCreate } from '../../runtime/maps.ts';

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

/** An event that is dated further ahead is remembered no longer: far more than any clock is wrong that is still used. */
const MAX_AHEAD_MS = 31 * DAY_MS;

/** Characters of a hash, 72 bits: among a million events, two of one id are to be expected once in ten billion years. */
const ID_LENGTH = 12;

/** How many ids are in one piece of the state file. */
const IDS_PER_PIECE = 500;

/** How many ids are looked at between two interruptions. */
const IDS_PER_STEP = 200;

/** Entries of the hours that stand for nothing any more, above the number of events, before they are removed. */
const MAX_STALE = 10_000;

/** A piece of the state file. */
interface Piece {
  /** Hours are counted from here, in monotonic milliseconds. */
  readonly epoch?: number;
  /** Events that the last response delivered. */
  readonly new?: readonly string[];
  /** Of these, the ones that are dated ahead: the hour until which that is so. */
  readonly ahead?: readonly (readonly [id: string, hour: number])[];
  /** Events that the last response did not deliver any more, by the hour of their last delivery. */
  readonly left?: readonly (readonly [hour: number, ids: readonly string[]])[];
}

/**
 * The events that have been delivered, each remembered for a day from its last delivery, so that it counts once however
 * often it comes. Nothing documents whether the service sends only what is new, overlapping windows, or everything each
 * time.
 *
 * An event is delivered by the last response, or it has left in some hour. So what is delivered again and again costs
 * nothing to save, and the oldest events are found without sorting. An event that is dated ahead leaves when its own time
 * has come, because until then it would count as new.
 *
 * When the memory is full, the events that left first are evicted, but none of the last two responses. So an answer with
 * more events than there is room for evicts none of its own, and is not counted again when it is repeated.
 */
export class EventMemory {
  readonly #limit: number;
  /** By id: the hour in which it left, or minus the number of the response that delivered it last. */
  readonly #events = new IdMap();
  /** The ids that left in each hour; one that came back is still there, and stands for nothing. */
  readonly #hours = new Map<number, string[]>();
  /** How many ids are in the hours. */
  #listed = 0;
  readonly #ahead = new Map<string, number>();
  #answer = 1;
  /** Monotonic milliseconds of this response and the one before. */
  #now = 0;
  #before = 0;
  #delivered: string[] = [];
  #deliveredBefore: string[] = [];
  #epoch = 0;
  #evicted = 0;
  #fresh: string[] = [];
  #left: string[] = [];

  constructor(limit: number) {
    this.#limit = limit;
  }

  get size(): number {
    return this.#events.size;
  }

  /** How many were evicted because the limit was reached; only grows. */
  get evicted(): number {
    return this.#evicted;
  }

  /** A response begins, at `now` in monotonic milliseconds. */
  begin(now: number): void {
    this.#before = this.#now;
    this.#now = now;
    this.#answer += 1;
    this.#deliveredBefore = this.#delivered;
    this.#delivered = [];
    this.#clearChanges();
  }

  /**
   * Notes that this response delivers an event, which is dated so many milliseconds after the response. `late` or `full`: it is
   * neither known nor remembered now.
   */
  deliver(identity: string, aheadMs = 0, isLate = false): 'known' | 'unknown' | 'late' | 'full' {
    const id = createHash('sha256').update(identity).digest('base64').slice(0, ID_LENGTH);
    const known = this.#events.get(id);
    if (known === -this.#answer) return 'known';
    if (known === undefined && isLate) return 'late';
    if (known === undefined && this.#events.size >= this.#limit && !this.#evict()) return 'full';
    this.#events.set(id, -this.#answer);
    this.#delivered.push(id);
    if (known === undefined || known >= 0) {
      this.#fresh.push(id);
      if (aheadMs > 0) this.#ahead.set(id, this.#hourOf(this.#now + Math.min(aheadMs, MAX_AHEAD_MS)));
    }
    return known === undefined ? 'unknown' : 'known';
  }

  /** The response ends: what it did not deliver any more leaves, and what left long ago is forgotten. */
  *end(): Generator<void> {
    const hour = this.#hourOf(this.#before);
    for (const [index, id] of this.#deliveredBefore.entries()) {
      if (index % IDS_PER_STEP === 0) yield;
      if (this.#events.get(id) !== 1 - this.#answer) continue;
      this.#leave(id, Math.max(hour, this.#ahead.get(id) ?? hour));
      this.#left.push(id);
    }
    this.#deliveredBefore = [];
    yield* this.#forget(this.#hourOf(this.#now - DAY_MS));
    if (this.#listed > this.#events.size + MAX_STALE) yield* this.#listAgain();
  }

  /** What the last response has changed, once. */
  *changes(): Generator<Piece> {
    for (const ids of parts(this.#fresh)) yield this.#new(ids);
    yield* this.#leftPieces(this.#left);
    this.#clearChanges();
  }

  *all(): Generator<Piece> {
    yield { epoch: this.#epoch };
    for (const ids of this.#hours.values()) yield* this.#leftPieces(ids);
    for (const ids of parts(this.#delivered))
      yield this.#new(ids.filter((id) => this.#events.get(id) === -this.#answer));
  }

  /** Only for an empty memory, or one that has read nothing but pieces; `shiftMs` turns monotonic times into own ones. */
  put({ epoch, new: ids = [], ahead = [], left = [] }: Piece, shiftMs: number): void {
    if (epoch !== undefined) this.#epoch = epoch + shiftMs;
    for (const id of ids) {
      this.#events.set(id, -this.#answer);
      this.#delivered.push(id);
    }
    for (const [id, hour] of ahead) this.#ahead.set(id, hour);
    for (const [hour, gone] of left) for (const id of gone) this.#leave(id, hour);
    while (this.#events.size > this.#limit && this.#evict());
  }

  /** When the last response was read, in monotonic milliseconds: its events leave as of then. */
  restored(answeredAt: number): void {
    this.#now = answeredAt;
    this.#evicted = 0;
  }

  #clearChanges(): void {
    this.#fresh = [];
    this.#left = [];
  }

  #new(ids: readonly string[]): Piece {
    const ahead = this.#ahead.size === 0 ? [] : ids.flatMap((id) => this.#aheadOf(id));
    return ahead.length === 0 ? { new: ids } : { new: ids, ahead };
  }

  #aheadOf(id: string): readonly (readonly [string, number])[] {
    const hour = this.#ahead.get(id);
    return hour === undefined ? [] : [[id, hour]];
  }

  *#leftPieces(all: readonly string[]): Generator<Piece> {
    for (const ids of parts(all)) {
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
    this.#ahead.delete(id);
    getOrCreate(this.#hours, hour, () => []).push(id);
    this.#listed += 1;
  }

  *#forget(before: number): Generator<void> {
    for (const [hour, ids] of this.#hours) {
      if (hour >= before) continue;
      for (const [index, id] of ids.entries()) {
        if (index % IDS_PER_STEP === 0) yield;
        if (this.#events.get(id) === hour) this.#events.delete(id);
      }
      this.#hours.delete(hour);
      this.#listed -= ids.length;
    }
  }

  /** Makes the hours anew, without the ids that came back since. */
  *#listAgain(): Generator<void> {
    this.#hours.clear();
    this.#listed = 0;
    for (const [id, hour] of this.#events) {
      if (hour < 0) continue;
      getOrCreate(this.#hours, hour, () => []).push(id);
      this.#listed += 1;
      if (this.#listed % IDS_PER_STEP === 0) yield;
    }
  }

  /** Evicts one of those that left first; false if none has left. */
  #evict(): boolean {
    while (this.#hours.size > 0) {
      const hour = Math.min(...this.#hours.keys());
      const ids = this.#hours.get(hour) ?? [];
      for (let id = ids.pop(); id !== undefined; id = ids.pop()) {
        this.#listed -= 1;
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

/** How many maps hold the ids: V8 doubles a map at once, and for a million ids that takes a tenth of a second. */
const MAPS = 64;

/** A number by id. */
class IdMap {
  readonly #maps = Array.from({ length: MAPS }, () => new Map<string, number>());
  size = 0;

  get(id: string): number | undefined {
    return this.#mapOf(id)?.get(id);
  }

  set(id: string, value: number): void {
    const map = this.#mapOf(id);
    this.size -= map?.size ?? 0;
    map?.set(id, value);
    this.size += map?.size ?? 0;
  }

  delete(id: string): void {
    if (this.#mapOf(id)?.delete(id)) this.size -= 1;
  }

  *[Symbol.iterator](): Generator<[id: string, value: number]> {
    for (const map of this.#maps) yield* map;
  }

  #mapOf(id: string): Map<string, number> | undefined {
    return this.#maps[id.charCodeAt(0) % MAPS];
  }
}

function* parts(ids: readonly string[]): Generator<readonly string[]> {
  for (let from = 0; from < ids.length; from += IDS_PER_PIECE) yield ids.slice(from, from + IDS_PER_PIECE);
}
