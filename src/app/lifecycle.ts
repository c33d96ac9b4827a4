import type { Config } from '../config/config.ts';
import type { SavedPart } from '../contract/saved-part.ts';
import type { MetricsPage } from '../exposition/metrics-page.ts';
import type { RemoteWrite } from '../history/remote-write.ts';
import { asError } from '../runtime/errors.ts';
import type { Pages, WebServer } from '../web/server.ts';
import type { WebConfigReloader } from '../web/web-config-reloader.ts';
import type { Environment } from './environment.ts';
import type { PolledService } from './polled-service.ts';
import type { StateKeeper } from './state-keeper.ts';

export interface LifecycleDependencies {
  readonly config: Config;
  readonly environment: Environment;
  readonly sources: readonly PolledService[];
  readonly scrapes: MetricsPage;
  readonly pages: Pages;
  readonly server: WebServer;
  readonly keeper: StateKeeper | undefined;
  readonly savedParts: readonly SavedPart[];
  readonly history: RemoteWrite | undefined;
  readonly webConfig: WebConfigReloader | undefined;
}

export class Lifecycle {
  readonly #parts: LifecycleDependencies;
  readonly #stopping = new AbortController();
  /** What runs until the stop: the polls of each service, all that can change the state, and the reload of files. */
  #polling: readonly Promise<unknown>[] = [];
  #running: Promise<unknown> = Promise.resolve();
  #reloading: Promise<unknown> | undefined;
  #hasStarted = false;
  /** Resolves with the error that has ended a loop of the program, which only a bug causes. */
  readonly failed: Promise<Error>;
  #fail: (defect: Error) => void = () => {};

  constructor(parts: LifecycleDependencies) {
    this.#parts = parts;
    this.failed = new Promise((resolve) => {
      this.#fail = resolve;
    });
  }

  /** The pages that the server serves. */
  get pages(): Pages {
    return this.#parts.pages;
  }

  /** Serves and polls; resolves with the port. Rejects if the address is not available. */
  async start(): Promise<number> {
    const { environment, server, sources, keeper, history, webConfig } = this.#parts;
    const { signal } = this.#stopping;
    const port = await server.listen();
    this.#hasStarted = true;
    // A stop while the address was looked up found no server to close.
    if (signal.aborted) await server.close(signal);
    else await this.#restore();
    if (signal.aborted) return port;
    if (history !== undefined && keeper === undefined) {
      environment.log.warn(
        'REMOTE_WRITE_URL without STATE_FILE: after a restart it is unknown which points have arrived',
      );
    }
    this.#polling = sources.map(({ poller }) => this.#guarded(poller.run(signal)));
    this.#running = Promise.all([
      this.#guarded(keeper?.run(signal)),
      this.#guarded(history?.run(signal)),
      ...this.#polling,
    ]);
    this.#reloading = webConfig?.run(signal);
    this.#announce(port);
    return port;
  }

  /** Polls everything once without serving; resolves with the exposition, and whether any poll succeeded. */
  async once(signal: AbortSignal): Promise<{ readonly exposition: Buffer; readonly polled: boolean }> {
    const { sources, scrapes } = this.#parts;
    await this.#restore();
    await Promise.all(sources.map(({ poller }) => poller.runOnce(signal)));
    const polled = sources.some(({ poller }) => poller.health.lastSuccessAt !== undefined);
    return { exposition: await scrapes.render('text'), polled };
  }

  /** Reads the inventory once; resolves with the number of appliances that this instance would poll. */
  async countAppliances(signal: AbortSignal): Promise<number> {
    const counts = await Promise.all(this.#parts.sources.map(({ inventory }) => inventory?.count(signal) ?? 0));
    return counts.reduce((sum, count) => sum + count, 0);
  }

  /** Stops polling, lets scrapes end, revokes tokens; within the configured time-out. */
  async stop(): Promise<void> {
    const { config, environment, sources, server, keeper, history } = this.#parts;
    const { clock, log } = environment;
    this.#stopping.abort();
    const late = new AbortController();
    const ended = new AbortController();
    const timeout = clock.sleep(config.shutdownTimeoutMs, ended.signal).then(() => late.abort());
    // What can hang on a disk is given up at the time-out.
    const untilTimeout = (work: Promise<unknown> | undefined) => Promise.race([work, timeout]);
    // Polls must end before the release, because one of them may just have received the token that is to be revoked.
    const released = sources.map(({ release }, index) =>
      untilTimeout(this.#polling[index]).then(() => release(late.signal)),
    );
    const saved = this.#running.then(async () => {
      // The state is saved before the last points are sent, which can take long, and again afterwards.
      await keeper?.save();
      if (history === undefined) return;
      await history.flush(late.signal);
      await keeper?.save();
    });
    await Promise.all([server.close(late.signal), ...released, untilTimeout(saved), untilTimeout(this.#reloading)]);
    ended.abort();
    if (this.#hasStarted) log.info('stopped');
  }

  /** Restores the state of the previous process; data that is still fresh is exposed before the first poll. */
  async #restore(): Promise<void> {
    const { keeper, savedParts, sources } = this.#parts;
    await keeper?.load(savedParts);
    for (const { state, poller } of sources) {
      const restored = state?.restoredResult?.();
      if (restored === undefined) continue;
      const { task, samples, respondedAt } = restored;
      await poller.restore(task, { samples, drops: new Map(), empty: false }, respondedAt);
    }
  }

  /** If a bug ends a loop, the program saves its state and ends, because nothing would be polled any more. */
  async #guarded(loop: Promise<unknown> | undefined): Promise<void> {
    try {
      await loop;
    } catch (thrown) {
      const err = asError(thrown);
      this.#parts.environment.log.error({ err }, 'internal error; stopping; please report');
      this.#fail(err);
    }
  }

  #announce(port: number): void {
    const { config, environment, sources, webConfig } = this.#parts;
    const { host, metricsPath } = config.web;
    const address = `${webConfig?.status.hasTls ? 'https' : 'http'}://${hostOf(host)}:${port}`;
    const apis = sources.map(({ api }) => api);
    environment.log.info({ port, path: metricsPath, apis, version: environment.version }, `listening on ${address}`);
  }
}

function hostOf(host: string | undefined): string {
  if (host === undefined || host === '0.0.0.0' || host === '::') return 'localhost';
  return host.includes(':') ? `[${host}]` : host;
}
