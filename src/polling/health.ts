import { CredentialError } from '../runtime/errors.ts';
import type { Random } from '../runtime/random.ts';
import type { Outcome } from './poll.ts';

/** When an API counts as down, and how it is asked while it is. */
export interface HealthSettings {
  /** So many polls failed in a row, with no success between them … */
  readonly failures: number;
  /** … of so many appliances, or of all there are where they are fewer. */
  readonly appliances: number;
  /** Time between two probes while it is down, in milliseconds: doubling from the first to the longest. Without it, down changes nothing. */
  readonly probe: { readonly firstMs: number; readonly longestMs: number } | undefined;
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
  #underWay = false;

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

  /** Takes an outcome in; `appliances`: how many there are now. */
  observe(outcome: Outcome, appliances: number, now: number): Turn {
    if (outcome.state === 'aborted') return undefined;
    if (outcome.state !== 'failed') return this.#succeed();
    this.#failures += 1;
    this.#failing.add(outcome.task.appliance?.serial ?? '');
    if (this.down) {
      this.#scheduleProbe(now);
      return undefined;
    }
    const alike =
      this.#failures >= Math.max(1, Math.min(this.#settings.failures, appliances)) &&
      this.#failing.size >= Math.max(1, Math.min(this.#settings.appliances, appliances));
    if (!alike && !(outcome.error instanceof CredentialError)) return undefined;
    this.#state = 'down';
    this.#probes = 0;
    this.#scheduleProbe(now);
    return 'went down';
  }

  /** How long to wait before the next poll may start, in milliseconds; undefined: until the probe under way has ended. */
  waitMs(now: number): number | undefined {
    if (!this.probing) return 0;
    return this.#underWay ? undefined : Math.max(0, this.#nextProbe - now);
  }

  /** Says that a poll starts. While the API is down that is the probe, and the only one. */
  starting(): void {
    this.#underWay = this.probing;
  }

  #succeed(): Turn {
    const turn = this.#state === 'up' ? undefined : 'went up';
    this.#state = 'up';
    this.#failures = 0;
    this.#failing.clear();
    this.#underWay = false;
    return turn;
  }

  #scheduleProbe(now: number): void {
    if (this.#settings.probe === undefined) return;
    const { firstMs, longestMs } = this.#settings.probe;
    const delay = Math.min(longestMs, firstMs * 2 ** this.#probes);
    this.#probes += 1;
    this.#underWay = false;
    this.#nextProbe = now + delay * (0.75 + this.#random() / 2);
  }
}
