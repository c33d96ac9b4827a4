import type { Clock } from '../runtime/clock.ts';
import type { Log } from '../runtime/log.ts';
import type { ReadText } from '../runtime/small-files.ts';
import { type GoodReading, protectionsOf, type RulesReading, readAgain, type WebRules } from './rules.ts';

/** How often the files are checked, in milliseconds. */
const LOOK_MS = 2_000;

export interface ReloadingOptions {
  readonly path: string;
  readonly read: ReadText;
  readonly first: GoodReading;
  /** Applies changed rules. Never rejects. */
  readonly adopt: (rules: WebRules) => Promise<void>;
  readonly clock: Clock;
  readonly log: Log;
}

/**
 * Checks the content of the files periodically: a change is seen however they were replaced. New content takes effect
 * after two equal checks, because files are not written in one step. Invalid content changes nothing, nor does content
 * with less protection than before: a truncated file looks like one without requirements.
 */
export class Reloading {
  readonly #settings: ReloadingOptions;
  #good: GoodReading;
  #last: RulesReading;
  #lastSuccess: number;
  /** The print of the last invalid content that was logged. */
  #told: string | undefined;

  constructor(settings: ReloadingOptions) {
    this.#settings = settings;
    this.#good = settings.first;
    this.#last = settings.first;
    this.#lastSuccess = settings.clock.now() / 1000;
  }

  /** For the exporter's own metrics. */
  get reading() {
    const { tls, users } = this.#good.rules;
    return {
      isGood: this.#told === undefined,
      lastSuccessSeconds: this.#lastSuccess,
      expirySeconds: tls?.expirySeconds,
      hasTls: tls !== undefined,
      hasAuth: users.size > 0 || tls?.client.required === true,
    };
  }

  /** Checks until `signal` aborts. Never rejects. */
  async run(signal: AbortSignal): Promise<void> {
    for (;;) {
      await this.#settings.clock.sleep(LOOK_MS, signal);
      if (signal.aborted) return;
      await this.look();
    }
  }

  async look(): Promise<void> {
    const { path, read, adopt, clock, log } = this.#settings;
    const last = this.#last;
    const reading = await readAgain(last, path, read);
    this.#last = reading;
    const hasChanged = reading.print !== this.#good.print;
    if (hasChanged && reading.print !== last.print) return;
    const faults = reading.state === 'bad' ? reading.faults : this.#losses(reading);
    if (reading.state === 'bad' || faults.length > 0) {
      if (this.#told === reading.print) return;
      this.#told = reading.print;
      log.error({ path, faults }, 'web configuration rejected; keeping the previous one');
      return;
    }
    if (this.#told !== undefined && !hasChanged) log.info({ path }, 'web configuration is valid again');
    if (hasChanged || this.#told !== undefined) this.#lastSuccess = clock.now() / 1000;
    this.#told = undefined;
    if (!hasChanged) return;
    this.#good = reading;
    await adopt(reading.rules);
    log.info({ path }, 'web configuration reloaded');
  }

  #losses({ rules }: GoodReading): readonly string[] {
    const kept = new Set(protectionsOf(rules));
    const lost = protectionsOf(this.#good.rules).filter((name) => !kept.has(name));
    return lost.map(
      (name) => `the file removes ${name}; a reload never removes protection: restart the exporter to remove it`,
    );
  }
}
