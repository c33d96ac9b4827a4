import { isDeepStrictEqual } from 'node:util';
import type { Clock } from '../runtime/clock.ts';
import type { Log } from '../runtime/log.ts';
import type { ReadText } from '../runtime/small-files.ts';
import type { WebStatus } from '../status/exporter-status.ts';
import { contentsOf, readWebRules, type ValidWebConfig, type WebConfigResult, type WebRules } from './web-config.ts';

/** How often the files are checked, in milliseconds. */
const CHECK_INTERVAL_MS = 2_000;

export interface ReloaderOptions {
  readonly path: string;
  readonly read: ReadText;
  readonly first: ValidWebConfig;
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
  #active: ValidWebConfig;
  /** What was read last and is in effect or rejected. */
  #last: WebConfigResult;
  #lastSuccessSeconds: number;

  constructor(options: ReloaderOptions) {
    this.#options = options;
    this.#active = options.first;
    this.#last = options.first;
    this.#lastSuccessSeconds = options.clock.now() / 1000;
  }

  /** Returns what the metrics about the exporter read. */
  get status(): WebStatus {
    const { tls, users } = this.#active.rules;
    return {
      isGood: this.#last === this.#active,
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
      await this.#check();
    }
  }

  async #check(): Promise<void> {
    const { path, read, adopt, clock, log } = this.#options;
    const { contents } = this.#last;
    // Parsing YAML, certificates and keys takes time on the event loop, so it is done only after a change.
    if (isDeepStrictEqual(await contentsOf([...contents.keys()], read), contents)) return;
    const result = await readWebRules(path, read);
    this.#last = result;
    const errors = result.state === 'invalid' ? result.errors : changesForRestart(this.#active.rules, result.rules);
    if (result.state === 'invalid' || errors.length > 0) {
      log.error({ path, errors }, 'The changed web configuration was rejected, and the previous one stayed in effect.');
      return;
    }
    this.#active = result;
    this.#lastSuccessSeconds = clock.now() / 1000;
    adopt(result.rules);
    log.info({ path }, 'The web configuration was reloaded.');
  }
}

/** Returns what a reload cannot change: what needs another server, and what would protect less. */
function changesForRestart(before: WebRules, after: WebRules): readonly string[] {
  const changes: readonly (readonly [hasChanged: boolean, what: string])[] = [
    [(before.tls === undefined) !== (after.tls === undefined), 'adds or removes TLS'],
    [before.tls?.client !== after.tls?.client, 'changes client_auth_type'],
    [before.tls?.allowedNames !== undefined && after.tls?.allowedNames === undefined, 'removes client_allowed_sans'],
    [before.users.size > 0 && after.users.size === 0, 'removes all users'],
  ];
  return changes.flatMap(([hasChanged, what]) =>
    hasChanged ? [`the file ${what}; restart the exporter to apply it`] : [],
  );
}
