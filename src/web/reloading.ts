import type { Clock } from '../runtime/clock.ts';
import type { Log } from '../runtime/log.ts';
import {
  type GoodReading,
  protectionsOf,
  type ReadText,
  type RulesReading,
  readAgain,
  type WebRules,
} from './rules.ts';

/** How often the files are looked at, in milliseconds. */
const LOOK_MS = 2_000;

/** How the web configuration fares, for the exporter's own metrics. */
export interface WebReading {
  /** False while what the files hold cannot be used, and what they held before counts. */
  readonly isGood: boolean;
  /** When what counts now was read. */
  readonly lastSuccessSeconds: number;
  /** When the server's certificate ends; undefined without TLS. */
  readonly expirySeconds: number | undefined;
  readonly hasTls: boolean;
  /** Whether a password or a client certificate is asked for. */
  readonly hasAuth: boolean;
}

/** What a reload needs. */
export interface ReloadingSettings {
  readonly path: string;
  readonly read: ReadText;
  /** What the files gave at the start. */
  readonly first: GoodReading;
  /** Takes rules that have changed. Never rejects. */
  readonly adopt: (rules: WebRules) => Promise<void>;
  readonly clock: Clock;
  readonly log: Log;
}

/**
 * Looks at the files again and again, by what they hold: however they were replaced, the change is seen. What they hold
 * counts once two looks have seen it: files are not written at once. What cannot be used changes nothing, nor does what
 * would protect less than before: a file that is cut off looks like one that asks for nothing.
 */
export class Reloading {
  readonly #settings: ReloadingSettings;
  /** What counts. */
  #good: GoodReading;
  /** What the last look gave. */
  #last: RulesReading;
  #lastSuccess: number;
  /** The print of files that cannot be used and were told of. */
  #told: string | undefined;

  constructor(settings: ReloadingSettings) {
    this.#settings = settings;
    this.#good = settings.first;
    this.#last = settings.first;
    this.#lastSuccess = settings.clock.now() / 1000;
  }

  /** How things stand. */
  get reading(): WebReading {
    const { tls, users } = this.#good.rules;
    return {
      isGood: this.#told === undefined,
      lastSuccessSeconds: this.#lastSuccess,
      expirySeconds: tls?.expirySeconds,
      hasTls: tls !== undefined,
      hasAuth: users.size > 0 || tls?.client.required === true,
    };
  }

  /** Looks until `signal` aborts. Never rejects. */
  async run(signal: AbortSignal): Promise<void> {
    for (;;) {
      await this.#settings.clock.sleep(LOOK_MS, signal);
      if (signal.aborted) return;
      await this.look();
    }
  }

  /** Looks once. Never rejects. */
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

  /** What protects now and would not any more, a line each. */
  #losses({ rules }: GoodReading): readonly string[] {
    const kept = new Set(protectionsOf(rules));
    const lost = protectionsOf(this.#good.rules).filter((name) => !kept.has(name));
    return lost.map((name) => `the file takes ${name} away; expected what protects to stay: a restart takes it away`);
  }
}
