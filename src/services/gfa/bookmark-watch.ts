/** How many further responses may bring an announced event. */
const MAX_RESPONSES_LATE = 2;

const ADVANCES_JUDGED = 20;

/** With this many missed events among the judged ones, of all kinds, another client is suspected. */
const MISSES_SUSPECTED = 3;

interface BookmarkState {
  highest: number | null;
  trusted: boolean;
  /** For the latest advances, whether each was missed without an excuse. */
  advances: readonly boolean[];
}

interface Awaited {
  readonly at: number;
  readonly isExcused: boolean;
  readonly left: number;
}

/**
 * Compares the service's bookmark of one kind of events (`info.last_lock_event`, `info.last_propagation`) with the
 * delivered events. Each time the bookmark advances, its event has to arrive: in the same response, in an earlier one, or
 * in the next two. An event that never arrives was lost: with a response that did not reach the exporter, which excuses
 * it, or to another client with the same client key. It is not documented that the bookmark is the time of an event, so
 * until one event has matched it, only twenty advances without any event are suspected.
 */
export class BookmarkWatch {
  #seen: BookmarkState = { highest: null, trusted: false, advances: [] };
  #missed = 0;
  #awaited: readonly Awaited[] = [];
  /** The whole seconds of the newest events in recent responses, newest response last. */
  #recent: readonly ReadonlySet<number>[] = [];

  /** How often the announced newest event never arrived: the least number of lost events. */
  get missed(): number {
    return this.#missed;
  }

  get suspectAdvances(): number {
    const { trusted, advances } = this.#seen;
    return trusted || advances.length === ADVANCES_JUDGED ? advances.filter(Boolean).length : 0;
  }

  /**
   * `times`: of its events as reported, in Unix seconds, as is `now` by the clock of the service. `isExcused` if a response
   * may have been lost since the last one.
   */
  addResponse(bookmark: number | undefined, times: Iterable<number>, isExcused: boolean, now: number): void {
    const from = Math.floor(this.#seen.highest ?? bookmark ?? Number.POSITIVE_INFINITY);
    const came = new Set<number>();
    let isSilent = true;
    for (const at of times) {
      isSilent = false;
      if (at >= from) for (const second of secondsOf(at)) came.add(second);
    }
    this.#recent = [...this.#recent, came].slice(-1 - MAX_RESPONSES_LATE);
    if (!isSilent && !this.#seen.trusted) this.#seen.advances = [];
    this.#awaited = this.#awaited.flatMap((each) => this.#judge({ ...each, isExcused: each.isExcused || isExcused }));
    const { highest } = this.#seen;
    if (bookmark === undefined || bookmark === highest) return;
    // One that is ahead of the clock is no measure for later ones.
    if (highest !== null && bookmark < highest && highest <= now) return;
    this.#seen.highest = bookmark;
    if (highest === null) this.#seen.trusted = this.#hasArrived(bookmark);
    else if (bookmark > highest)
      this.#awaited = [...this.#awaited, ...this.#judge({ at: bookmark, isExcused, left: MAX_RESPONSES_LATE + 1 })];
  }

  state(): BookmarkState {
    return { ...this.#seen };
  }

  restore(saved: BookmarkState): void {
    this.#seen = { ...saved };
  }

  /** The same event, awaited for one response less; none once it has arrived or patience is over. */
  #judge(awaited: Awaited): readonly Awaited[] {
    const hasCome = this.#hasArrived(awaited.at);
    if (!hasCome && awaited.left > 1) return [{ ...awaited, left: awaited.left - 1 }];
    if (hasCome) this.#seen.trusted = true;
    else this.#missed += 1;
    this.#seen.advances = [...this.#seen.advances, !hasCome && !awaited.isExcused].slice(-ADVANCES_JUDGED);
    return [];
  }

  #hasArrived(at: number): boolean {
    return this.#recent.some((came) => secondsOf(at).some((second) => came.has(second)));
  }
}

/** Whether another client seems to receive our events. Stays true until none of the latest advances was missed. */
export function isKeyShared(watches: readonly BookmarkWatch[], before: boolean): boolean {
  const suspect = watches.reduce((sum, { suspectAdvances }) => sum + suspectAdvances, 0);
  return suspect >= MISSES_SUSPECTED || (before && suspect > 0);
}

/** Truncated and rounded: only one of the two times may have fractions. */
function secondsOf(at: number): readonly number[] {
  return [Math.floor(at), Math.round(at)];
}
