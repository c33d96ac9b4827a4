import type { Config } from '../config/config.ts';
import type { Scrapes } from '../exposition/scrapes.ts';
import type { ExpositionServer } from '../http/server.ts';
import type { Kept, StateKeeper } from '../state/keeper.ts';
import type { Environment } from './environment.ts';
import type { Protection } from './guard.ts';
import type { History } from './history.ts';
import type { Source } from './source.ts';

/** How often an instance saves its state where no poll does: little changes but the day's budget. */
const STATE_INTERVAL_MS = 60_000;

/** The program, built; what is not configured is undefined. */
export interface Parts {
  readonly config: Config;
  readonly environment: Environment;
  readonly sources: readonly Source[];
  readonly scrapes: Scrapes;
  readonly server: ExpositionServer;
  readonly keeper: StateKeeper | undefined;
  readonly kept: Kept;
  readonly history: History | undefined;
  readonly protection: Protection | undefined;
}

/** Starts what has been built, and stops it in reverse. */
export class Lifecycle {
  readonly #parts: Parts;
  readonly #stopping = new AbortController();
  /** What goes on until the stop: the polls of each service, those with all that saves, and looking at files. */
  #polling: readonly Promise<unknown>[] = [];
  #running: Promise<unknown> = Promise.resolve();
  #looking: Promise<unknown> | undefined;

  constructor(parts: Parts) {
    this.#parts = parts;
  }

  async start(): Promise<number> {
    const { server, sources, keeper, history, protection } = this.#parts;
    const { signal } = this.#stopping;
    const port = await server.listen();
    // A stop that came while the address was looked up found nothing to close.
    if (signal.aborted) await server.close(signal);
    else await this.#restore();
    if (signal.aborted) return port;
    const pollsSave = sources.some(({ kept }) => kept?.values !== undefined);
    const saving = pollsSave ? undefined : keeper?.run(STATE_INTERVAL_MS, signal);
    this.#polling = sources.map(({ poller }) => poller.run(signal));
    this.#running = Promise.all([saving, history?.run(signal), ...this.#polling]);
    this.#looking = protection?.reloading.run(signal);
    this.#announce(port);
    return port;
  }

  async once(signal: AbortSignal): Promise<{ readonly exposition: Buffer; readonly polled: boolean }> {
    const { sources, scrapes } = this.#parts;
    await this.#restore();
    await Promise.all(sources.map(({ poller }) => poller.runOnce(signal)));
    const polled = sources.some(({ poller }) => poller.observer.succeeded > 0);
    return { exposition: await scrapes.whole('text'), polled };
  }

  async countAppliances(): Promise<number> {
    const counts = await Promise.all(this.#parts.sources.map(({ count }) => count?.(this.#stopping.signal) ?? 0));
    return counts.reduce((sum, count) => sum + count, 0);
  }

  async stop(): Promise<void> {
    const { config, environment, sources, server, keeper, history } = this.#parts;
    const { clock, log } = environment;
    this.#stopping.abort();
    const late = new AbortController();
    const ended = new AbortController();
    const timeout = clock.sleep(config.shutdownTimeoutMs, ended.signal).then(() => late.abort());
    // Any of it may hang on a disk.
    const inTime = (work: Promise<unknown> | undefined) => Promise.race([work, timeout]);
    // Polls end before anything is released: one of them may just have got the token that is to be given back.
    const released = sources.map(({ release }, index) => inTime(this.#polling[index]).then(() => release(late.signal)));
    const saved = this.#running.then(async () => {
      // Once before points are sent, which may take long, and once behind.
      await keeper?.save();
      if (history === undefined) return;
      await history.flush(late.signal);
      await keeper?.save();
    });
    await Promise.all([server.close(late.signal), ...released, inTime(saved), inTime(this.#looking)]);
    ended.abort();
    log.info('stopped');
  }

  /** Takes back what the process before this one kept; what is still fresh of it is exposed before the first poll. */
  async #restore(): Promise<void> {
    const { keeper, kept, sources } = this.#parts;
    await keeper?.load(kept);
    for (const { kept: own, poller } of sources) {
      const known = own?.values?.known();
      if (known === undefined) continue;
      const { task, samples, answeredAt } = known;
      await poller.restore(task, { samples, drops: new Map(), empty: false }, answeredAt);
    }
  }

  #announce(port: number): void {
    const { config, environment, sources, protection } = this.#parts;
    const { host, metricsPath } = config.web;
    const address = `${protection?.isTls ? 'https' : 'http'}://${hostOf(host)}:${port}`;
    const apis = sources.map(({ api }) => api);
    environment.log.info({ port, path: metricsPath, apis, version: environment.version }, `listening on ${address}`);
  }
}

/** A host as a URL has it; where it listens on all addresses, this machine's own name for itself. */
function hostOf(host: string | undefined): string {
  if (host === undefined || host === '0.0.0.0' || host === '::') return 'localhost';
  return host.includes(':') ? `[${host}]` : host;
}
