import type { Clock } from '../runtime/clock.ts';
import { ConfigError } from '../runtime/errors.ts';
import type { Log } from '../runtime/log.ts';
import type { WebConfig, WebRules } from './web-config.ts';

/** How often the files are checked, in milliseconds. */
const CHECK_INTERVAL_MS = 2_000;

interface ReloaderOptions extends WebConfig {
  /** Applies changed rules. */
  readonly adopt: (rules: WebRules) => void;
  readonly clock: Clock;
  readonly log: Log;
}

/**
 * Checks the content of the files periodically: a change is seen however they were replaced. Content that is invalid, that
 * protects less than before, or that needs another server changes nothing: a truncated file looks like one without
 * requirements.
 */
export class WebConfigReloader {
  readonly #options: ReloaderOptions;
  /** What is in effect. */
  #rules: WebRules;
  #isGood = true;
  #lastSuccessSeconds: number;

  constructor(options: ReloaderOptions) {
    this.#options = options;
    this.#rules = options.rules;
    this.#lastSuccessSeconds = options.clock.now() / 1000;
  }

  /** Returns what the metrics about the exporter read. */
  get status() {
    const { tls, users } = this.#rules;
    return {
      isGood: this.#isGood,
      lastSuccessSeconds: this.#lastSuccessSeconds,
      expirySeconds: tls?.expirySeconds,
      hasTls: tls !== undefined,
      hasAuth: users.size > 0 || tls?.client.isRequired === true,
    };
  }

  /** Checks until `signal` aborts. Never rejects. */
  async run(signal: AbortSignal): Promise<void> {
    for (;;) {
      await this.#options.clock.sleep(CHECK_INTERVAL_MS, signal);
      if (signal.aborted) return;
      // Parsing YAML, certificates and keys takes time on the event loop, so it is done only after a change.
      if (await this.#options.file.hasChanged()) await this.#reload();
    }
  }

  async #reload(): Promise<void> {
    const { file, adopt, clock, log } = this.#options;
    const { path } = file;
    try {
      const rules = await file.readRules();
      const errors = changesForRestart(this.#rules, rules);
      if (errors.length > 0) throw new ConfigError(errors);
      this.#rules = rules;
    } catch (error) {
      if (!(error instanceof ConfigError)) throw error;
      this.#isGood = false;
      const { errors } = error;
      log.error({ path, errors }, 'The changed web configuration was rejected, and the previous one stayed in effect.');
      return;
    }
    this.#isGood = true;
    this.#lastSuccessSeconds = clock.now() / 1000;
    adopt(this.#rules);
    log.info({ path }, 'The web configuration was reloaded.');
  }
}

/** Returns what a reload cannot change: what needs another server, and what would protect less. */
function changesForRestart(before: WebRules, after: WebRules): readonly string[] {
  const changes: readonly (readonly [hasChanged: boolean, what: string])[] = [
    [(before.tls === undefined) !== (after.tls === undefined), 'adds or removes TLS'],
    [before.tls?.client !== after.tls?.client, 'changes client_auth_type'],
    [!!before.tls?.allowedNames.length && !after.tls?.allowedNames.length, 'removes client_allowed_sans'],
    [before.users.size > 0 && after.users.size === 0, 'removes all users'],
  ];
  return changes.flatMap(([hasChanged, what]) =>
    hasChanged ? [`the file ${what}; restart the exporter to apply it`] : [],
  );
}
