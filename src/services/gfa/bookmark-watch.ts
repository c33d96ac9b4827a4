/** How many later responses may still deliver an announced event. */
const MAX_RESPONSES_LATE = 2;

/** How many of the latest advances are considered. */
const RECENT_ADVANCES = 20;

/** If this many of the considered advances, of all groups, were missed without an excuse, another client is suspected. */
const SUSPICIOUS_MISSES = 3;

interface BookmarkState {
  highest: number | null;
  trusted: boolean;
  /** For the latest advances, whether each was missed without an excuse. */
  advances: readonly boolean[];
}

interface AwaitedEvent {
  readonly at: number;
  readonly isExcused: boolean;
  readonly responsesLeft: number;
}

/**
 * Compares the service's bookmark of one kind of events (`info.last_lock_event`, `info.last_propagation`) with the
 * delivered events. Each time the bookmark advances, its event has to arrive: in the same response, in an earlier one, or
 * in the next two. An event that never arrives was lost: with a response that did not reach the exporter, which excuses
 * it, or to another client with the same client key. It is not documented that the bookmark is the time of an event, so
 * until one event has matched it, only twenty advances without any event are suspected.
 */
export class BookmarkWatch {
  #state: BookmarkState = { highest: null, trusted: false, advances: [] };
  #missed = 0;
  #awaited: AwaitedEvent[] = [];
  /** The whole seconds of the newest events in recent responses; the newest response is the last. */
  #recent: readonly ReadonlySet<number>[] = [];

  /** How often the announced event never arrived. It is a lower bound of the lost events. */
  get missed(): number {
    return this.#missed;
  }

  get suspectAdvances(): number {
    const { trusted, advances } = this.#state;
    return trusted || advances.length === RECENT_ADVANCES ? advances.filter(Boolean).length : 0;
  }

  /**
   * Adds a response with its bookmark and the times of its events. Times, and `now` by the service's clock, are in Unix
   * seconds. `isExcused`: a response may have been lost since the last one.
   */
  addResponse(bookmark: number | undefined, times: Iterable<number>, isExcused: boolean, now: number): void {
    const from = Math.floor(this.#state.highest ?? bookmark ?? Number.POSITIVE_INFINITY);
    const newSeconds = new Set<number>();
    let hasNoEvents = true;
    for (const at of times) {
      hasNoEvents = false;
      if (at >= from) for (const second of secondsOf(at)) newSeconds.add(second);
    }
    this.#recent = [...this.#recent, newSeconds].slice(-1 - MAX_RESPONSES_LATE);
    if (!hasNoEvents && !this.#state.trusted) this.#state.advances = [];
    const earlier = this.#awaited;
    this.#awaited = [];
    for (const event of earlier) this.#awaitOrRecord({ ...event, isExcused: event.isExcused || isExcused });
    const { highest } = this.#state;
    if (bookmark === undefined || bookmark === highest) return;
    // A bookmark that was ahead of the clock says nothing about later ones, so a lower one may replace it.
    if (highest !== null && bookmark < highest && highest <= now) return;
    this.#state.highest = bookmark;
    if (highest === null) this.#state.trusted = this.#hasArrived(bookmark);
    else if (bookmark > highest)
      this.#awaitOrRecord({ at: bookmark, isExcused, responsesLeft: MAX_RESPONSES_LATE + 1 });
  }

  state(): BookmarkState {
    return { ...this.#state };
  }

  restore(saved: BookmarkState): void {
    this.#state = { ...saved };
  }

  /** Records whether an announced event arrived or was missed. Until that is known, the event stays awaited. */
  #awaitOrRecord(event: AwaitedEvent): void {
    const hasArrived = this.#hasArrived(event.at);
    if (!hasArrived && event.responsesLeft > 1) {
      this.#awaited.push({ ...event, responsesLeft: event.responsesLeft - 1 });
      return;
    }
    if (hasArrived) this.#state.trusted = true;
    else this.#missed += 1;
    this.#state.advances = [...this.#state.advances, !hasArrived && !event.isExcused].slice(-RECENT_ADVANCES);
  }

  #hasArrived(at: number): boolean {
    return this.#recent.some((seconds) => secondsOf(at).some((second) => seconds.has(second)));
  }
}

/** Whether another client seems to receive this client's events. Once true, it stays true until none of the latest advances was missed. */
export function isKeyShared(watches: readonly BookmarkWatch[], wasShared: boolean): boolean {
  const suspectAdvances = watches.reduce((sum, { suspectAdvances }) => sum + suspectAdvances, 0);
  return suspectAdvances >= SUSPICIOUS_MISSES || (wasShared && suspectAdvances > 0);
}

/**
 * Returns the whole seconds that may denote a time: truncated and rounded, because either the bookmark or the event may
 * have lost its fraction.
 */
function secondsOf(at: number): readonly number[] {
  return [Math.floor(at), Math.round(at)];
}
