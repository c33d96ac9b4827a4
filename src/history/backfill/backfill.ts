import type { HistoryResult } from '../../contract/poll-result.ts';
import type { Task } from '../../contract/task.ts';
import type { Labels } from '../../metrics/family.ts';
import type { DropReason } from '../../metrics/samples.ts';
import type { Clock } from '../../runtime/clock.ts';
import { isForbidden, isNotFound, meaningOf } from '../../runtime/error-policy.ts';
import { CredentialError, RequestError, SchemaError } from '../../runtime/errors.ts';
import { getOrCreate, increment } from '../../runtime/maps.ts';
import { exponentialDelayMs, type Random } from '../../runtime/random.ts';
import { runInSlices } from '../../runtime/slices.ts';
import { HISTORY_RETENTION_MS, selectPoints, type UnusedReason } from '../points.ts';
import type { TimeSeries } from '../write-request.ts';
import { linesByFamily } from './open-metrics.ts';
import type { Spool, SpoolEntry } from './spool.ts';

export type HistoryTask = Task & Required<Pick<Task, 'readHistory'>>;

export interface BackfillDependencies {
  readonly binMs: number;
  readonly labels: Labels;
  /** The number of tasks that are read at once; each holds its points in memory until it is complete. */
  readonly workers: number;
  readonly spool: Spool;
  readonly clock: Clock;
  /** The time by the service's clock, in epoch milliseconds. */
  readonly now: () => number;
  readonly random: Random;
}

/** Older data is not requested, because it may be too old when the request is sent. */
export const MAX_READ_AGE_MS = HISTORY_RETENTION_MS - 600_000;

/** The longest period of one request, whose response then has some megabytes. */
const PIECE_MS = 5 * 86_400_000;

/** A request is repeated for this long while the service does not respond, with growing pauses. */
const OUTAGE = { forMs: 3_600_000, firstMs: 5_000, maxMs: 300_000 } as const;

/** Failed tasks are read again after all others. */
const ROUNDS = 2;

/** The backfill ends after this many rejected tasks (403) without a single success. */
const MAX_FORBIDDEN = 20;

/** Reads the past of every task into the spool, in periods from the newest to the oldest. */
export class Backfill {
  readonly #parts: BackfillDependencies;
  readonly failures = new Map<string, Error>();
  /** Records, points, and bins of rejected periods that were not used, by reason. */
  readonly unused = new Map<DropReason | UnusedReason | 'rejected', number>();

  constructor(parts: BackfillDependencies) {
    this.#parts = parts;
  }

  /**
   * Reads what is not in the spool yet. Resolves when everything was read or has failed, or soon after `signal` aborts.
   * Rejects if nothing can be read, as without credentials, or if the spool cannot be written.
   */
  async run(tasks: readonly HistoryTask[], signal: AbortSignal): Promise<void> {
    let left = tasks.filter(({ id }) => !this.#parts.spool.done.has(id));
    for (let round = 0; round < ROUNDS && left.length > 0; round += 1) {
      await this.#round(left, signal);
      left = left.filter(({ id }) => this.failures.has(id) && !isForbidden(this.failures.get(id)));
    }
  }

  async #round(tasks: readonly HistoryTask[], signal: AbortSignal): Promise<void> {
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

  async #read(task: HistoryTask, signal: AbortSignal): Promise<void> {
    let read: ReadPoints = { series: [], points: 0, bins: 0 };
    try {
      read = await this.#pieces(task, signal);
    } catch (error) {
      if (signal.aborted) return;
      if (!(error instanceof RequestError || error instanceof SchemaError)) throw error;
      if (!isNotFound(error)) {
        this.#failed(task, error);
        return;
      }
    }
    const { series, points, bins } = read;
    const outcome = points > 0 ? 'read' : 'none';
    await this.#parts.spool.add({ task: task.id, outcome, points, bins }, linesByFamily(series));
    this.failures.delete(task.id);
  }

  #failed({ id }: HistoryTask, error: Error): void {
    this.failures.set(id, error);
    const forbidden = [...this.failures.values()].filter(isForbidden).length;
    const isAnyAllowed = [...this.#parts.spool.done.values()].some(({ outcome }) => outcome === 'read');
    if (forbidden >= MAX_FORBIDDEN && !isAnyAllowed) throw error;
  }

  /** Reads the newest period first: if the service rejects a period, it has nothing earlier either. */
  async #pieces(task: HistoryTask, signal: AbortSignal): Promise<ReadPoints> {
    const { binMs, labels, spool, now, clock } = this.#parts;
    const { from: begin, to: end } = spool.request;
    const pieces: (readonly TimeSeries[])[] = [];
    let [points, bins, to] = [0, 0, end];
    while (to > begin) {
      // The service has dropped data that has become too old since the start.
      const kept = Math.ceil((now() - MAX_READ_AGE_MS) / binMs) * binMs;
      const from = Math.max(begin, kept, to - PIECE_MS);
      if (from >= to) break;
      const past = await this.#patiently(() => task.readHistory(from, to, signal), signal).catch((error: unknown) => {
        if (to === end || !isNotFound(error)) throw error;
      });
      const first = Math.min(to, Math.max(from, past?.from ?? to));
      if (past !== undefined) {
        const options = { from: first, to, binMs, labels, now: now() };
        const selected = await runInSlices(selectPoints(past.bins, options, this.unused), clock);
        for (const [reason, count] of past.drops) increment(this.unused, reason, count);
        points += selected.count;
        bins += selected.times.length;
        pieces.unshift(selected.series);
      }
      if (first > from) {
        increment(this.unused, 'rejected', (first - Math.max(begin, kept)) / binMs);
        break;
      }
      to = from;
    }
    return { series: joined(pieces), points, bins };
  }

  async #patiently(read: () => Promise<HistoryResult>, signal: AbortSignal): Promise<HistoryResult> {
    const { clock, random } = this.#parts;
    const begun = clock.monotonic();
    for (let failures = 1; ; failures += 1) {
      try {
        return await read();
      } catch (error) {
        const isOver = clock.monotonic() - begun > OUTAGE.forMs;
        if (signal.aborted || isOver || !isOutage(error)) throw error;
        await clock.sleep(exponentialDelayMs(OUTAGE, failures, random), signal);
      }
    }
  }
}

interface ReadPoints extends Pick<SpoolEntry, 'points' | 'bins'> {
  readonly series: readonly TimeSeries[];
}

/** Joins the points of each series. The pieces are in order, the oldest first. */
function joined(pieces: readonly (readonly TimeSeries[])[]): readonly TimeSeries[] {
  const whole = new Map<string, { labels: TimeSeries['labels']; times: number[]; values: number[] }>();
  for (const { labels, times, values } of pieces.flat()) {
    const one = getOrCreate(whole, JSON.stringify(labels), () => ({ labels, times: [], values: [] }));
    for (const time of times) one.times.push(time);
    for (const value of values) one.values.push(value);
  }
  return [...whole.values()];
}

/** Whether the error is not about this request: the network, the whole service or its tokens fail. */
function isOutage(error: unknown): boolean {
  const cause = error instanceof CredentialError ? error.cause : error;
  return (meaningOf(cause).retries ?? 0) > 1;
}
