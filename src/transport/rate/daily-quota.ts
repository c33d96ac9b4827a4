import type { SavedPart } from '../../contract/saved-part.ts';
import { increment } from '../../runtime/maps.ts';

const DAY_MS = 86_400_000;
const MINUTE_MS = 60_000;

const MINUTES_PER_DAY = DAY_MS / MINUTE_MS;

/** The burst allowance, as a share of the daily limit. */
const BURST_SHARE = 0.01;

/**
 * Limits the requests in any 24 hours by spreading them evenly (GCRA): one hundredth of the limit is the burst allowance,
 * which builds up while nothing is sent, and the remaining requests are spread over the day. Together they are the limit.
 *
 * It starts with an empty allowance, as if the previous process had just sent a request: restarts cannot exceed the limit,
 * even without a state file. Times are monotonic milliseconds. An undefined limit allows everything.
 */
export class DailyQuota {
  readonly #limit: number;
  readonly #burstAllowance: number;
  readonly #msPerRequest: number;
  /** The theoretical arrival time of GCRA: the next request may be sent then. It lies in the past by the unused allowance. */
  #theoreticalArrival: number;
  /** Sent requests by minutes since `#epoch`. */
  #requestsByMinute = new Map<number, number>();
  #epoch: number;

  constructor(limit: number | undefined, now: number) {
    this.#limit = limit ?? Number.POSITIVE_INFINITY;
    this.#burstAllowance = Math.max(1, Math.floor(this.#limit * BURST_SHARE));
    this.#msPerRequest = limit === undefined ? 0 : DAY_MS / Math.max(1, limit - this.#burstAllowance);
    this.#theoreticalArrival = now + this.#msPerRequest;
    this.#epoch = now;
  }

  earliest(now: number): number {
    return Math.max(now, this.#theoreticalArrival);
  }

  spend(now: number): void {
    if (this.#msPerRequest === 0) return;
    this.#theoreticalArrival =
      Math.max(this.#theoreticalArrival, now - (this.#burstAllowance - 1) * this.#msPerRequest) + this.#msPerRequest;
    const present = this.#minuteOf(now);
    increment(this.#requestsByMinute, present);
    for (const minute of this.#requestsByMinute.keys()) {
      if (minute > present - MINUTES_PER_DAY) break;
      this.#requestsByMinute.delete(minute);
    }
  }

  get perSecond(): number {
    return this.#msPerRequest === 0 ? Number.POSITIVE_INFINITY : 1000 / this.#msPerRequest;
  }

  /** Must be restored before the first request. */
  savedPart(name: string): SavedPart {
    return {
      name,
      save: (): SavedQuota => ({ epoch: this.#epoch, minutes: [...this.#requestsByMinute] }),
      restore: (saved, shiftMs) => {
        const { epoch, minutes } = saved as SavedQuota;
        const restored = new Map(minutes);
        if (this.#msPerRequest === 0) return;
        this.#requestsByMinute = restored;
        this.#epoch = epoch + shiftMs;
      },
    };
  }

  /** The requests that may still be sent in the present 24 hours; undefined without a limit. */
  remaining(now: number): number | undefined {
    if (this.#msPerRequest === 0) return undefined;
    const oldest = this.#minuteOf(now) - MINUTES_PER_DAY;
    let spent = 0;
    for (const [minute, count] of this.#requestsByMinute) if (minute > oldest) spent += count;
    return Math.max(0, this.#limit - spent);
  }

  #minuteOf(now: number): number {
    return Math.floor((now - this.#epoch) / MINUTE_MS);
  }
}

interface SavedQuota {
  /** The beginning of the minute 0, in monotonic milliseconds. */
  readonly epoch: number;
  readonly minutes: readonly (readonly [minute: number, requests: number])[];
}
