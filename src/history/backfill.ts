import type { Labels } from '../metrics/family.ts';
import type { DropReason } from '../metrics/samples.ts';
import type { Past } from '../metrics/snapshot.ts';
import type { Task } from '../metrics/task.ts';
import type { Clock } from '../runtime/clock.ts';
import { asError, CredentialError, RequestError, ShapeError } from '../runtime/errors.ts';
import { addTo } from '../runtime/maps.ts';
import { backOffMs, type Random } from '../runtime/random.ts';
import { type Cursor, LONGEST_PAST_MS, newPoints, type PointsBySeries, type Unfit } from './new-points.ts';
import { linesByFamily } from './open-metrics.ts';
import type { Spool, Spooled } from './spool.ts';
import type { SeriesPoints } from './write-request.ts';

export type PastTask = Task & Required<Pick<Task, 'past'>>;

export interface BackfillParts {
  readonly binMs: number;
  /** Labels added to every series. */
  readonly labels: Labels;
  /** Tasks read at once; each holds its points in memory until it is done. */
  readonly workers: number;
  readonly spool: Spool;
  readonly clock: Clock;
  readonly random: Random;
}

/** What is nearly too old may be too old when the request leaves. */
export const OLDEST_READ_MS = LONGEST_PAST_MS - 600_000;

/** The longest period of one request: some megabytes. */
const PIECE_MS = 5 * 86_400_000;

/** Services reject shorter periods. */
const SHORTEST_MS = 6 * 60_000;

/** How long a request is repeated while the service does not answer, and the pauses. */
const OUTAGE = { forMs: 3_600_000, firstMs: 5_000, longestMs: 300_000 } as const;

/** Failed tasks are read again after all others, and then given up. */
const ROUNDS = 2;

/** The backfill ends after this many rejected tasks (403) without a single success. */
const MOST_FORBIDDEN = 20;

/** Reads the past of every task, from the oldest bin to the newest, into the spool. */
export class Backfill {
  readonly #parts: BackfillParts;
  /** By task. */
  readonly failures = new Map<string, Error>();
  /** Records and points that were not used, by reason. */
  readonly unused = new Map<DropReason | Unfit, number>();

  constructor(parts: BackfillParts) {
    this.#parts = parts;
  }

  /**
   * Reads what is not in the spool yet. Resolves when everything was read or has failed, or soon after `signal` aborts.
   * Rejects if nothing can be read, as without credentials, or if the spool cannot be written.
   */
  async run(tasks: readonly PastTask[], signal: AbortSignal): Promise<void> {
    let left = tasks.filter(({ id }) => !this.#parts.spool.done.has(id));
    for (let round = 0; round < ROUNDS && left.length > 0; round += 1) {
      await this.#round(left, signal);
      left = left.filter(({ id }) => this.failures.has(id) && !isForbidden(this.failures.get(id)));
    }
  }

  async #round(tasks: readonly PastTask[], signal: AbortSignal): Promise<void> {
    const ended = new AbortController();
    const both = AbortSignal.any([signal, ended.signal]);
    const queue = tasks.values();
    const work = async () => {
      try {
        for (const task of queue) if (!both.aborted) await this.#read(task, both);
      } catch (error) {
        ended.abort(error);
      }
    };
    await Promise.all(Array.from({ length: this.#parts.workers }, work));
    if (ended.signal.aborted) throw ended.signal.reason;
  }

  async #read(task: PastTask, signal: AbortSignal): Promise<void> {
    let brought: Brought = { series: [], points: 0, bins: 0 };
    try {
      brought = await this.#pieces(task, signal);
    } catch (error) {
      if (signal.aborted) return;
      if (!(error instanceof RequestError || error instanceof ShapeError)) throw error;
      if (!isMissing(error)) {
        this.#failed(task, error);
        return;
      }
    }
    const { series, points, bins } = brought;
    const outcome = points > 0 ? 'read' : 'none';
    await this.#parts.spool.add({ task: task.id, outcome, points, bins }, linesByFamily(series));
    this.failures.delete(task.id);
  }

  #failed({ id }: PastTask, error: Error): void {
    this.failures.set(id, error);
    const forbidden = [...this.failures.values()].filter(isForbidden).length;
    const isAnyAllowed = [...this.#parts.spool.done.values()].some(({ outcome }) => outcome === 'read');
    if (forbidden >= MOST_FORBIDDEN && !isAnyAllowed) throw error;
  }

  async #pieces(task: PastTask, signal: AbortSignal): Promise<Brought> {
    const { binMs, labels, spool, clock } = this.#parts;
    const { from: begin, to: end } = spool.question;
    const count = Math.ceil((end - begin) / PIECE_MS);
    const lengthMs = Math.ceil((end - begin) / count / binMs) * binMs;
    const series: PointsBySeries = new Map();
    let [points, bins] = [0, 0];
    let cursor: Cursor = { at: begin - 1, sum: undefined };
    for (let from = begin; from < end; from += lengthMs) {
      const to = Math.min(from + lengthMs, end);
      // Data that has become too old since the start does not exist any more.
      const kept = Math.ceil((clock.now() - OLDEST_READ_MS) / binMs) * binMs;
      if (to - kept < SHORTEST_MS) continue;
      // One more bin: the first bin of an answer may be incomplete.
      const asked = Math.max(kept, Math.min(from, to - SHORTEST_MS) - binMs);
      const past = await this.#patiently(() => task.past(asked, to, signal), signal);
      const news = newPoints(past.points, cursor, clock.now(), labels, { end: to, series });
      for (const [reason, count] of [...past.drops, ...news.unfit]) addTo(this.unused, reason, count);
      points += news.count;
      bins += news.bins;
      cursor = { at: to - 1, sum: undefined };
    }
    return { series: [...series.values()], points, bins };
  }

  /** Repeats a request while the service does not answer. */
  async #patiently(ask: () => Promise<Past>, signal: AbortSignal): Promise<Past> {
    const { clock, random } = this.#parts;
    const begun = clock.monotonic();
    for (let failures = 1; ; failures += 1) {
      try {
        return await ask();
      } catch (error) {
        const isOver = clock.monotonic() - begun > OUTAGE.forMs;
        if (signal.aborted || isOver || !isOutage(error)) throw error;
        await clock.sleep(backOffMs(OUTAGE, failures, random), signal);
      }
    }
  }
}

interface Brought extends Pick<Spooled, 'points' | 'bins'> {
  readonly series: readonly SeriesPoints[];
}

/** The service does not have it: the appliance or the series is unknown, or does not exist for its build. */
function isMissing(error: Error): boolean {
  return error instanceof RequestError && (error.status === 404 || error.status === 422);
}

function isForbidden(error: Error | undefined): boolean {
  return error instanceof RequestError && error.status === 403;
}

/** The failure is not about this request: the network, the service as a whole, or its token service. */
function isOutage(thrown: unknown): boolean {
  const error = thrown instanceof CredentialError ? asError(thrown.cause) : thrown;
  if (!(error instanceof RequestError)) return false;
  return error.fault === 'network' || [429, 502, 503, 504].includes(error.status ?? 0);
}
