import type { Task } from '../metrics/task.ts';
import { CredentialError } from '../runtime/errors.ts';
import type { Random } from '../runtime/random.ts';
import type { Outcome } from './poll.ts';

/** When an API counts as down, and how it is asked while it is. */
export interface HealthSettings {
  /** So many polls failed in a row, with no success between them, or as many as there are tasks where they are fewer … */
  readonly failures: number;
  /** … of so many appliances, or of all there are where they are fewer. */
  readonly appliances: number;
  /** Time between two probes while it is down, in milliseconds: doubling from the first to the longest. Without it, down changes nothing. */
  readonly probe: { readonly firstMs: number; readonly longestMs: number } | undefined;
}

/** How much there is to poll now. */
export interface Fleet {
  readonly appliances: number;
  readonly tasks: number;
}

/** What an outcome changed. */
export type Turn = 'went up' | 'went down' | undefined;

/**
 * Whether an API is down as a whole. When everything fails alike it is the API and not the appliances: then one probe
 * goes out every few seconds instead of a fleet of retries, and its first success wakes everything at once. Refused
 * credentials bring it down with the first poll. Pure; times are monotonic milliseconds.
 */
export class ApiHealth {
  readonly #settings: HealthSettings;
  readonly #random: Random;
  #state: 'unknown' | 'up' | 'down' = 'unknown';
  #failures = 0;
  readonly #failing = new Set<string>();
  #probes = 0;
  #nextProbe = 0;
  /** The task whose poll is the probe under way. */
  #probe: string | undefined;

  constructor(settings: HealthSettings, random: Random) {
    this.#settings = settings;
    this.#random = random;
  }

  get down(): boolean {
    return this.#state === 'down';
  }

  /** Whether polls are held back to probes. */
  get probing(): boolean {
    return this.down && this.#settings.probe !== undefined;
  }

  /** Takes an outcome in. */
  observe(outcome: Outcome, fleet: Fleet, now: number): Turn {
    const probed = outcome.task.id === this.#probe;
    if (probed) this.#probe = undefined;
    if (outcome.state === 'aborted') return undefined;
    if (outcome.state !== 'failed') return this.#succeed();
    this.#failures += 1;
    this.#failing.add(outcome.task.appliance?.serial ?? '');
    if (this.down) {
      // Polls that were under way when it went down fail one by one: they say nothing new.
      if (probed) this.#scheduleProbe(now, outcome.error);
      return undefined;
    }
    const alike =
      this.#failures >= Math.max(1, Math.min(this.#settings.failures, fleet.tasks)) &&
      this.#failing.size >= Math.max(1, Math.min(this.#settings.appliances, fleet.appliances));
    if (!alike && !(outcome.error instanceof CredentialError)) return undefined;
    this.#state = 'down';
    this.#probes = 0;
    this.#scheduleProbe(now, outcome.error);
    return 'went down';
  }

  /** How long to wait before the next poll may start, in milliseconds; undefined: until the probe under way has ended. */
  waitMs(now: number): number | undefined {
    if (!this.probing) return 0;
    return this.#probe === undefined ? Math.max(0, this.#nextProbe - now) : undefined;
  }

  /** Says that a poll starts. While the API is down that is the probe, and the only one. */
  starting(task: Task): void {
    if (this.probing) this.#probe = task.id;
  }

  #succeed(): Turn {
    const turn = this.#state === 'up' ? undefined : 'went up';
    this.#state = 'up';
    this.#failures = 0;
    this.#failing.clear();
    this.#probe = undefined;
    return turn;
  }

  /** The next probe is not before one can be sent: one that fails unsent would only put the next one off. */
  #scheduleProbe(now: number, error: Error): void {
    if (this.#settings.probe === undefined) return;
    const { firstMs, longestMs } = this.#settings.probe;
    const delay = Math.min(longestMs, firstMs * 2 ** this.#probes);
    this.#probes += 1;
    const spread = (delay * this.#random()) / 2;
    const pausedUntil = error instanceof CredentialError ? error.pausedUntil : undefined;
    this.#nextProbe = Math.max(now + 0.75 * delay, pausedUntil ?? now) + spread;
  }
}
