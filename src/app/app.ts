import { asError, CredentialError, RequestError } from '../runtime/errors.ts';
import { type AppParts, createParts } from './parts.ts';

/** The share of SHUTDOWN_TIMEOUT after which what hangs is given up. The rest is for the end of the process. */
const STOP_SHARE = 0.9;

/** The program: it starts and stops its parts. */
export class App {
  readonly #parts: AppParts;
  readonly #stopping = new AbortController();
  /** The polls of each service. */
  #polling: readonly Promise<void>[] = [];
  /** Every loop that can change the state. */
  #running: Promise<unknown> = Promise.resolve();
  #hasStarted = false;
  /** Resolves with the error that has ended a loop of the program, which only a bug causes. */
  readonly failed: Promise<Error>;
  #fail: (defect: Error) => void = () => {};

  constructor(parts: AppParts) {
    this.#parts = parts;
    this.failed = new Promise((resolve) => {
      this.#fail = resolve;
    });
  }

  /** Serves and polls; resolves with the port. Rejects if the address is not available. */
  async start(): Promise<number> {
    const { environment, server, sources, keeper, history, reloader } = this.#parts;
    const { signal } = this.#stopping;
    const port = await server.listen();
    this.#hasStarted = true;
    // A stop while the address was looked up found no server to close.
    if (signal.aborted) await server.close(signal);
    else await this.#restore();
    if (signal.aborted) return port;
    if (history !== undefined && keeper === undefined) {
      environment.log.warn(
        { advice: 'set STATE_FILE, so that a restart sends no point twice and misses none' },
        'Remote write was started without a state file.',
      );
    }
    this.#polling = sources.map(({ poller }) => this.#guarded(poller.run(signal)));
    const loops = [keeper?.run(signal), history?.run(signal)].map((loop) => this.#guarded(loop));
    this.#running = Promise.all([...this.#polling, ...loops]);
    void this.#guarded(reloader?.run(signal));
    this.#announce(port);
    return port;
  }

  /** Polls everything once without serving; resolves with the exposition, and whether any poll succeeded. */
  async once(signal: AbortSignal): Promise<{ readonly exposition: Buffer; readonly polled: boolean }> {
    const { sources, scrapes } = this.#parts;
    await Promise.all(sources.map(({ poller }) => poller.runOnce(signal)));
    const polled = sources.some(({ poller }) => poller.health.lastSuccessEpochMs !== undefined);
    return { exposition: await scrapes.render('text'), polled };
  }

  /** Reads the inventory once; resolves with the number of appliances that this instance would poll. */
  async countAppliances(signal: AbortSignal): Promise<number> {
    let count = 0;
    for (const { inventory, explain } of this.#parts.sources) {
      try {
        count += (await inventory?.count(signal)) ?? 0;
      } catch (error) {
        // The command ends with this error, so its message says what to do.
        const isOfService = error instanceof RequestError || error instanceof CredentialError;
        if (isOfService && !signal.aborted) error.message += `; ${explain(error).advice}`;
        throw error;
      }
    }
    return count;
  }

  /**
   * Stops polling, lets scrapes end, saves the state and revokes tokens. Whatever of that hangs is given up before
   * SHUTDOWN_TIMEOUT.
   */
  async stop(): Promise<void> {
    const { config, environment, sources, server } = this.#parts;
    const { clock, log } = environment;
    this.#stopping.abort();
    const timeout = new AbortController();
    const ended = new AbortController();
    const timedOut = clock.sleep(STOP_SHARE * config.shutdownTimeoutMs, ended.signal).then(() => timeout.abort());
    const released = sources.map(async ({ release }, index) => {
      // A poll may just have received the token that is to be revoked.
      await this.#polling[index];
      await release(timeout.signal);
    });
    const work = Promise.all([server.close(timeout.signal), this.#saveAtEnd(timeout.signal), ...released]);
    await Promise.race([work, timedOut]);
    ended.abort();
    if (this.#hasStarted) log.info('The exporter stopped.');
  }

  /** The state is saved before the last points are sent, which can take long, and again afterwards. */
  async #saveAtEnd(timeout: AbortSignal): Promise<void> {
    const { keeper, history } = this.#parts;
    await this.#running;
    await keeper?.save();
    if (history === undefined) return;
    await history.flush(timeout);
    await keeper?.save();
  }

  /** Restores the state of the previous process; data that is still fresh is exposed before the first poll. */
  async #restore(): Promise<void> {
    const { keeper, history, sources } = this.#parts;
    const ofSources = sources.flatMap(({ savedParts }) => savedParts);
    await keeper?.load(history === undefined ? ofSources : [...ofSources, history]);
    for (const { restoredResult, poller } of sources) {
      const restored = restoredResult?.();
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
      this.#parts.environment.log.error(
        { err, advice: 'report this line to the maintainers of the exporter' },
        'A part of the exporter ended by a defect, so the exporter stopped.',
      );
      this.#fail(err);
    }
  }

  #announce(port: number): void {
    const { config, environment, sources, reloader } = this.#parts;
    const { host, metricsPath } = config.web;
    const url = `${reloader?.status.hasTls ? 'https' : 'http'}://${hostOf(host)}:${port}`;
    const apis = sources.map(({ api }) => api);
    environment.log.info({ url, port, path: metricsPath, apis, version: environment.version }, 'The exporter started.');
  }
}

export function createApp(...settings: Parameters<typeof createParts>): App {
  return new App(createParts(...settings));
}

function hostOf(host: string | undefined): string {
  if (host === undefined || host === '0.0.0.0' || host === '::') return 'localhost';
  return host.includes(':') ? `[${host}]` : host;
}
