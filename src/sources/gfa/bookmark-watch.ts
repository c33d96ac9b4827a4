import { keptList, keptNumber } from '../../metrics/restored-values.ts';

/** For so many further answers an event that the service tells of may still come. */
const PATIENCE = 2;

/** How many moves of the bookmark are judged together. */
const MOVES_JUDGED = 20;

/** So many of them, of all kinds together, never delivered to us, and somebody else gets them. */
const MISSES_SUSPECTED = 3;

interface Awaited {
  readonly at: number;
  readonly isExcused: boolean;
  readonly left: number;
}

/**
 * Compares the service's bookmark of one kind of events (`info.last_lock_event`, `info.last_propagation`) with the events
 * that it delivers. Each time the bookmark moves forward, the event that it names has to come, in the same answer, in one
 * before or in the next two. One that never comes was lost: with an answer of ours that got lost, which excuses it, or to
 * another instance on the same client key. Whether the bookmark is the time of an event at all is documented nowhere,
 * so nobody is suspected before one has come as it was told.
 */
export class BookmarkWatch {
  #highest: number | undefined;
  #isTrusted = false;
  #missed = 0;
  #awaited: readonly Awaited[] = [];
  /** The whole seconds of the latest answers' newest events, newest answer last. */
  #recent: readonly ReadonlySet<number>[] = [];
  /** Of the latest moves, whether each one was missed without an excuse. */
  #moves: readonly boolean[] = [];

  /** How often the newest event that the service told of never came: at least so many events are lost. */
  get missed(): number {
    return this.#missed;
  }

  /** How many of the latest moves were to events that never came, without an excuse; none before there is trust. */
  get suspectMoves(): number {
    return this.#isTrusted ? this.#moves.filter(Boolean).length : 0;
  }

  /**
   * Says that an answer has been read: its bookmark and the times of its events, in Unix seconds. `isExcused` when an
   * answer may have got lost since the last one that was read.
   */
  answered(bookmark: number | undefined, times: Iterable<number>, isExcused: boolean): void {
    const from = Math.floor(this.#highest ?? bookmark ?? Number.POSITIVE_INFINITY);
    const came = new Set<number>();
    for (const at of times) if (at >= from) for (const second of secondsOf(at)) came.add(second);
    this.#recent = [...this.#recent, came].slice(-1 - PATIENCE);
    this.#awaited = this.#awaited.flatMap((each) => this.#judge({ ...each, isExcused: each.isExcused || isExcused }));
    if (bookmark === undefined || (this.#highest !== undefined && bookmark <= this.#highest)) return;
    const isFirst = this.#highest === undefined;
    this.#highest = bookmark;
    if (isFirst) this.#isTrusted = this.#cameFor(bookmark);
    else this.#awaited = [...this.#awaited, ...this.#judge({ at: bookmark, isExcused, left: PATIENCE + 1 })];
  }

  /** What {@link BookmarkWatch.restore} takes. */
  state(): BookmarkState {
    return { highest: this.#highest ?? null, trusted: this.#isTrusted, moves: this.#moves };
  }

  /** Goes on where the process before this one was. Throws a TypeError where that is not what it should be. */
  restore({ highest, trusted, moves }: BookmarkState): void {
    this.#highest = highest === null ? undefined : keptNumber(highest);
    this.#isTrusted = trusted === true;
    this.#moves = keptList(moves).map((missed) => missed === true);
  }

  /** The same one waited for a little longer, or none when it has come or is given up. */
  #judge(awaited: Awaited): readonly Awaited[] {
    const hasCome = this.#cameFor(awaited.at);
    if (!hasCome && awaited.left > 1) return [{ ...awaited, left: awaited.left - 1 }];
    if (hasCome) this.#isTrusted = true;
    else this.#missed += 1;
    this.#moves = [...this.#moves, !hasCome && !awaited.isExcused].slice(-MOVES_JUDGED);
    return [];
  }

  #cameFor(at: number): boolean {
    return this.#recent.some((came) => secondsOf(at).some((second) => came.has(second)));
  }
}

/** Whether it looks as if somebody else got our events; once it does, until all of the latest moves were right again. */
export function isKeyShared(watches: readonly BookmarkWatch[], before: boolean): boolean {
  const suspect = watches.reduce((sum, { suspectMoves }) => sum + suspectMoves, 0);
  return suspect >= MISSES_SUSPECTED || (before && suspect > 0);
}

/** A bookmark as kept over restarts. */
export interface BookmarkState {
  readonly highest: number | null;
  readonly trusted: boolean;
  readonly moves: readonly boolean[];
}

/** Cut and rounded: one side may tell fractions and the other not. */
function secondsOf(at: number): readonly number[] {
  return [Math.floor(at), Math.round(at)];
}
