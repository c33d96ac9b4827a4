import type { Clock } from '../runtime/clock.ts';
import type { Log } from '../runtime/log.ts';
import type { ReadText } from '../runtime/small-files.ts';
import {
  protectionsOf,
  rereadIfChanged,
  type ValidWebConfig,
  type WebConfigResult,
  type WebRules,
} from './web-config.ts';

/** How often the files are checked, in milliseconds. */
const CHECK_INTERVAL_MS = 2_000;

export interface ReloaderOptions {
  readonly path: string;
  readonly read: ReadText;
  readonly first: ValidWebConfig;
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
export class WebConfigReloader {
  readonly #options: ReloaderOptions;
  #active: ValidWebConfig;
  #last: WebConfigResult;
  #lastSuccess: number;
  /** The digest of the invalid content that was logged last. */
  #loggedDigest: string | undefined;

  constructor(options: ReloaderOptions) {
    this.#options = options;
    this.#active = options.first;
    this.#last = options.first;
    this.#lastSuccess = options.clock.now() / 1000;
  }

  /** Returns what the metrics about the exporter read. */
  get status() {
    const { tls, users } = this.#active.rules;
    return {
      isGood: this.#loggedDigest === undefined,
      lastSuccessSeconds: this.#lastSuccess,
      expirySeconds: tls?.expirySeconds,
      hasTls: tls !== undefined,
      hasAuth: users.size > 0 || tls?.client.required === true,
    };
  }

  /** Checks until `signal` aborts. Never rejects. */
  async run(signal: AbortSignal): Promise<void> {
    for (;;) {
      await this.#options.clock.sleep(CHECK_INTERVAL_MS, signal);
      if (signal.aborted) return;
      await this.checkFiles();
    }
  }

  async checkFiles(): Promise<void> {
    const { path, read, adopt, clock, log } = this.#options;
    const last = this.#last;
    const result = await rereadIfChanged(last, path, read);
    this.#last = result;
    const hasChanged = result.digest !== this.#active.digest;
    if (hasChanged && result.digest !== last.digest) return;
    const errors = result.state === 'invalid' ? result.errors : this.#lostProtections(result);
    if (result.state === 'invalid' || errors.length > 0) {
      if (this.#loggedDigest === result.digest) return;
      this.#loggedDigest = result.digest;
      log.error({ path, errors }, 'web configuration rejected; keeping the previous one');
      return;
    }
    if (this.#loggedDigest !== undefined && !hasChanged) log.info({ path }, 'web configuration is valid again');
    if (hasChanged || this.#loggedDigest !== undefined) this.#lastSuccess = clock.now() / 1000;
    this.#loggedDigest = undefined;
    if (!hasChanged) return;
    this.#active = result;
    await adopt(result.rules);
    log.info({ path }, 'web configuration reloaded');
  }

  #lostProtections({ rules }: ValidWebConfig): readonly string[] {
    const kept = new Set(protectionsOf(rules));
    const lost = protectionsOf(this.#active.rules).filter((name) => !kept.has(name));
    return lost.map(
      (name) => `the file removes ${name}; a reload never removes protection: restart the exporter to remove it`,
    );
  }
}
