import * as schema from './state-schema.ts';

export interface MemoryLimits {
  /** For one pair of filer and volume. */
  readonly perPair: number;
  /** For all pairs together. */
  readonly total: number;
}

/** The memory of events, and what the service's bookmarks show about lost events. */
export interface EventReading {
  readonly memory: { readonly size: number; readonly evicted: number; readonly limits: MemoryLimits };
  readonly bookmarks: { readonly missed: number; readonly isSuspicious: boolean };
}

/** How many answers determine the reach: at one poll a minute, the last hour. */
const ANSWERS_JUDGED = 60;

/** Added to twice the reach, in seconds: an hour covers a service that was down and catches up. */
const MARGIN_SECONDS = 3600;

const timeSchema = schema.number();
const progressSchema = schema.object({ frontier: schema.time, reaches: schema.list(schema.number(0)) });

/**
 * The events of one kind that were counted already, so that an event delivered again counts once. It is not documented
 * whether the service sends only what is new, overlapping windows, or everything each time. So an event is forgotten
 * only once it is older than twice the reach of recent answers and an hour more. If the service starts from the
 * beginning later, events up to the newest forgotten one of a pair count as known.
 *
 * Bounded: above the limits the oldest events are evicted early. An evicted event would count again if it arrived
 * again; {@link EventMemory.evicted} is the number of evictions.
 */
export class EventMemory {
  readonly #limits: MemoryLimits;
  readonly #pairs = new Map<string, Map<string, number>>();
  /** The time of the newest event forgotten for its age, by pair. */
  readonly #forgotten = new Map<string, number>();
  readonly #reaches: number[] = [];
  #frontier = Number.NEGATIVE_INFINITY;
  #size = 0;
  #evicted = 0;

  constructor(limits: MemoryLimits) {
    this.#limits = limits;
  }

  get size(): number {
    return this.#size;
  }

  /** How many were evicted because a limit was reached; only grows. */
  get evicted(): number {
    return this.#evicted;
  }

  /** Adds an event; true if it is new. `at` is its own time in Unix seconds. */
  admit(pair: string, identity: string, at: number): boolean {
    if (at <= (this.#forgotten.get(pair) ?? Number.NEGATIVE_INFINITY)) return false;
    let seen = this.#pairs.get(pair);
    if (seen === undefined) {
      seen = new Map();
      this.#pairs.set(pair, seen);
    }
    if (seen.has(identity)) return false;
    seen.set(identity, at);
    this.#size += 1;
    if (seen.size > this.#limits.perPair) this.#evicted += this.#forget(seen, oldestTenth(seen.values()));
    if (this.#size > this.#limits.total) this.#evictEverywhere();
    return true;
  }

  /**
   * Processes the end of an answer: the times of its oldest and newest event, in Unix seconds, and the service's
   * bookmark for this kind if it sent one. Forgets events that cannot arrive again.
   */
  answered(oldest: number, newest: number, bookmark: number | undefined): void {
    const before = Number.isFinite(this.#frontier) ? this.#frontier : newest;
    this.#frontier = Math.max(this.#frontier, newest);
    this.#reaches.push(Number.isFinite(oldest) ? Math.max(0, before - oldest) : 0);
    if (this.#reaches.length > ANSWERS_JUDGED) this.#reaches.shift();
    const horizon = this.#horizon(bookmark);
    for (const [pair, seen] of this.#pairs) {
      for (const at of seen.values()) {
        if (at < horizon) this.#forgotten.set(pair, Math.max(at, this.#forgotten.get(pair) ?? at));
      }
      this.#forget(seen, horizon);
      if (seen.size === 0) this.#pairs.delete(pair);
    }
  }

  drop(pair: string): void {
    this.#size -= this.#pairs.get(pair)?.size ?? 0;
    this.#pairs.delete(pair);
    this.#forgotten.delete(pair);
  }

  /** Without the pairs, which are saved one by one, because there can be many. */
  state(): unknown {
    return progressSchema.write({ frontier: this.#frontier, reaches: this.#reaches });
  }

  /** The newest forgotten time, then identities and times alternating. */
  stateOf(pair: string): unknown {
    return [this.#forgotten.get(pair) ?? null, [...(this.#pairs.get(pair) ?? [])].flat()];
  }

  restore(saved: unknown): void {
    const { frontier, reaches } = progressSchema.read(saved);
    this.#frontier = frontier;
    this.#reaches.push(...reaches);
  }

  restorePair(pair: string, saved: unknown): void {
    const [forgotten, events] = schema.items(saved);
    const forgottenAt = schema.time.read(forgotten);
    if (Number.isFinite(forgottenAt)) this.#forgotten.set(pair, forgottenAt);
    const seen = schema.items(events);
    for (let index = 0; index + 1 < seen.length; index += 2) {
      this.admit(pair, schema.text.read(seen[index]), timeSchema.read(seen[index + 1]));
    }
  }

  #horizon(bookmark: number | undefined): number {
    const reach = this.#reaches.reduce((longest, next) => Math.max(longest, next), 0);
    return Math.min(this.#frontier, bookmark ?? this.#frontier) - 2 * reach - MARGIN_SECONDS;
  }

  #forget(seen: Map<string, number>, before: number): number {
    let forgotten = 0;
    for (const [identity, at] of seen) {
      if (at < before) {
        seen.delete(identity);
        forgotten += 1;
      }
    }
    this.#size -= forgotten;
    return forgotten;
  }

  #evictEverywhere(): void {
    const cutoff = oldestTenth([...this.#pairs.values()].flatMap((seen) => [...seen.values()]));
    for (const seen of this.#pairs.values()) this.#evicted += this.#forget(seen, cutoff);
  }
}

/** The time below which the oldest tenth lies: evicting a tenth at once keeps eviction cheap. */
function oldestTenth(times: Iterable<number>): number {
  const sorted = Float64Array.from(times).sort();
  const cut = sorted[Math.floor(sorted.length / 10)] ?? 0;
  // If many share one time, cutting below it would free nothing.
  return cut > (sorted[0] ?? 0) ? cut : cut + 1;
}
