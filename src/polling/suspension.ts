import { RequestError } from '../runtime/errors.ts';
import type { Outcome } from './poll.ts';

/**
 * Why a task rests: the right or the licence is missing (403), there is no such thing (404), the request is not taken
 * for this appliance (422), or there was no record in several answers.
 */
export const REST_REASONS = ['forbidden', 'not_found', 'rejected', 'empty'] as const;

/** One of {@link REST_REASONS}. */
export type RestReason = (typeof REST_REASONS)[number];

/** So many answers without a record in a row, and a series rests. */
const EMPTY_BEFORE_REST = 3;

/** So many refusals in a row, and a task rests: the first may be a gateway's that knows no better for a moment. */
const REFUSED_BEFORE_REST = 2;

/**
 * The tasks of which nothing is to be had: they rest, which is to be asked at the pace of the discovery
 * (upstream-api.md 6.3). What was refused and is given again speaks for others that rest for the same reason: a gateway may
 * be well again, or a licence bought. Times are monotonic milliseconds.
 */
export class Rests {
  /** How many answers in a row had nothing for us, and why the last one. */
  readonly #vain = new Map<string, { readonly times: number; readonly reason: RestReason }>();
  readonly #resting = new Map<string, RestReason>();
  /** When others were last spoken for. */
  #spokenAt = Number.NEGATIVE_INFINITY;

  /** How many tasks rest. */
  get size(): number {
    return this.#resting.size;
  }

  /** Why a task rests; undefined when it does not. */
  reasonOf(id: string): RestReason | undefined {
    return this.#resting.get(id);
  }

  /** How many tasks rest for each reason, those with none included. */
  counts(): ReadonlyMap<RestReason, number> {
    const counts = new Map<RestReason, number>(REST_REASONS.map((reason) => [reason, 0]));
    for (const reason of this.#resting.values()) counts.set(reason, (counts.get(reason) ?? 0) + 1);
    return counts;
  }

  /** Takes an outcome in: how long its task is to rest, in milliseconds; undefined where it need not. */
  observe(outcome: Outcome): number | undefined {
    const { id, intervalMs, restMs } = outcome.task;
    const reason = vainReasonOf(outcome);
    if (reason === undefined) {
      this.forget(id);
      return undefined;
    }
    const times = (this.#vain.get(id)?.times ?? 0) + 1;
    this.#vain.set(id, { times, reason });
    // What is asked slowly anyway, as a series that does not fit the build, rests with its first such answer.
    const usual = reason === 'empty' ? EMPTY_BEFORE_REST : REFUSED_BEFORE_REST;
    const enough = intervalMs === restMs ? 1 : usual;
    if (times < enough || restMs === undefined || restMs < intervalMs) {
      this.#resting.delete(id);
      return undefined;
    }
    this.#resting.set(id, reason);
    return restMs;
  }

  /**
   * The tasks that an outcome, not yet observed, speaks for: they are worth asking now. None where others were spoken for
   * within the last rest, so that nothing is asked more than twice as often as by itself.
   */
  spokenFor({ task, ...outcome }: Outcome, now: number): readonly string[] {
    const reason = this.#vain.get(task.id)?.reason;
    const isGiven = outcome.state === 'succeeded' && !outcome.reading.empty;
    if (!isGiven || reason === undefined || reason === 'empty') return [];
    if (now - this.#spokenAt < (task.restMs ?? 0)) return [];
    this.#spokenAt = now;
    return [...this.#resting].flatMap(([id, why]) => (why === reason && id !== task.id ? id : []));
  }

  /** A task is polled no more, or has something to give. */
  forget(id: string): void {
    this.#vain.delete(id);
    this.#resting.delete(id);
  }
}

/** Why an answer had nothing for us; undefined where it had something, or nobody answered. */
function vainReasonOf(outcome: Outcome): RestReason | undefined {
  if (outcome.state === 'succeeded') return outcome.reading.empty ? 'empty' : undefined;
  if (outcome.state !== 'absent') return undefined;
  const status = outcome.error instanceof RequestError ? outcome.error.status : undefined;
  if (status === 403) return 'forbidden';
  return status === 404 ? 'not_found' : 'rejected';
}
