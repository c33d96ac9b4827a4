/** The memory of events, and what the service's bookmarks show about lost events. */
export interface EventReading {
  readonly memory: { readonly size: number; readonly evicted: number; readonly limit: number };
  readonly bookmarks: { readonly missed: number; readonly isSuspicious: boolean };
}

/**
 * The events that have been delivered, each remembered from its last delivery, so that it counts once however often it
 * comes. Nothing documents whether the service sends only what is new, overlapping windows, or everything each time.
 *
 * Bounded: when it is full, the events delivered longest ago are evicted, but none of the last two answers. So an answer
 * with more events than there is room for evicts none of its own, and is not counted again when it is repeated.
 */
export class EventMemory {
  readonly #limit: number;
  /** By filer and volume, then by identity: the latest answer with the event, in monotonic milliseconds. */
  readonly #pairs = new Map<string, Map<string, number>>();
  #size = 0;
  #evicted = 0;
  #answer = Number.NEGATIVE_INFINITY;
  #answerBefore = Number.NEGATIVE_INFINITY;
  #isFull = false;

  constructor(limit: number) {
    this.#limit = limit;
  }

  get size(): number {
    return this.#size;
  }

  /** How many were evicted because the limit was reached; only grows. */
  get evicted(): number {
    return this.#evicted;
  }

  /** An answer begins, at `now` in monotonic milliseconds. */
  begin(now: number): void {
    this.#answerBefore = this.#answer;
    this.#answer = now;
    this.#isFull = false;
  }

  /** Notes that this answer delivers an event. `late` or `full`: it is neither known nor remembered now. */
  deliver(pair: string, identity: string, isLate = false): 'known' | 'unknown' | 'late' | 'full' {
    const delivered = this.#pairs.get(pair);
    if (delivered?.has(identity)) {
      delivered.set(identity, this.#answer);
      return 'known';
    }
    if (isLate) return 'late';
    if (this.#size >= this.#limit && !this.#evict()) return 'full';
    this.#remember(pair, identity, this.#answer);
    return 'unknown';
  }

  /** Forgets the events last delivered before a moment, in monotonic milliseconds, that `isOver` says cannot count any more. */
  *forget(before: number, isOver: (identity: string) => boolean): Generator<void> {
    for (const [pair, delivered] of this.#pairs) {
      for (const [identity, at] of delivered) {
        if (at < before && isOver(identity)) this.#delete(delivered, identity);
      }
      if (delivered.size === 0) this.#pairs.delete(pair);
      yield;
    }
  }

  drop(pair: string): void {
    this.#size -= this.#pairs.get(pair)?.size ?? 0;
    this.#pairs.delete(pair);
  }

  stateOf(pair: string, now: number): readonly Delivered[] {
    const deliveries = new Map<number, string[]>();
    for (const [identity, at] of this.#pairs.get(pair) ?? []) {
      const identities = deliveries.get(at);
      if (identities === undefined) deliveries.set(at, [identity]);
      else identities.push(identity);
    }
    return [...deliveries].map(([at, identities]) => [now - at, identities]);
  }

  restore(pair: string, saved: readonly Delivered[] | DeliveredBefore, now: number): void {
    for (const [ageMs, identities] of isBefore(saved) ? sameAge(saved) : saved) {
      for (const identity of identities) this.#remember(pair, identity, now - ageMs);
    }
  }

  #remember(pair: string, identity: string, at: number): void {
    let delivered = this.#pairs.get(pair);
    if (delivered === undefined) {
      delivered = new Map();
      this.#pairs.set(pair, delivered);
    }
    if (!delivered.has(identity)) this.#size += 1;
    delivered.set(identity, at);
  }

  #delete(delivered: Map<string, number>, identity: string): void {
    delivered.delete(identity);
    this.#size -= 1;
  }

  /** Evicts up to a tenth at once, which keeps it cheap; false if there is nothing to evict. */
  #evict(): boolean {
    if (this.#isFull) return false;
    const times = Float64Array.from([...this.#pairs.values()].flatMap((delivered) => [...delivered.values()])).sort();
    const most = Math.ceil(times.length / 10);
    const last = times[most - 1] ?? Number.POSITIVE_INFINITY;
    let left = most;
    for (const delivered of this.#pairs.values()) {
      for (const [identity, at] of delivered) {
        if (left === 0 || at > last || at >= this.#answerBefore) continue;
        this.#delete(delivered, identity);
        left -= 1;
      }
    }
    this.#evicted += most - left;
    this.#isFull = left === most;
    return !this.#isFull;
  }
}

/** What an answer was the last to deliver. */
type Delivered = readonly [ageMs: number, identities: readonly string[]];

/** In files of version 1: the newest forgotten time, then identities and times alternating. */
type DeliveredBefore = readonly [forgotten: number | null, events: readonly (string | number)[]];

function isBefore(saved: readonly Delivered[] | DeliveredBefore): saved is DeliveredBefore {
  return saved.length > 0 && !Array.isArray(saved[0]);
}

/** All are as old as the file. */
function sameAge([, events]: DeliveredBefore): readonly Delivered[] {
  return [[0, events.filter((_, index) => index % 2 === 0).map(String)]];
}
