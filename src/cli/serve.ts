import { setMaxListeners } from 'node:events';
import process from 'node:process';
import { type App, createApp } from '../app/app.ts';
import { askedUpstreams } from '../app/asked.ts';
import type { Environment } from '../app/environment.ts';
import { certificateWarnings, readGuard } from '../app/guard.ts';
import type { Config } from '../config/config.ts';
import { warnOfLooseFiles } from '../config/secret-files.ts';
import { systemClock } from '../runtime/clock.ts';
import { asError } from '../runtime/errors.ts';
import { endNow, threadsAtRest } from '../runtime/exit.ts';
import { createLog, type Log } from '../runtime/log.ts';
import { EXIT } from './arguments.ts';
import { factsOf, ownFiles, webFiles } from './configuration.ts';
import { logDestination, systemEnvironment } from './process.ts';

/** Polls and serves until it is stopped. */
export async function serve(
  config: Config,
  stopped: Promise<void>,
  how: Pick<Environment, 'notice'> = {},
): Promise<number> {
  // Files are read for it, and a disk may hang: whoever asks to stop meanwhile need not wait for that.
  const app = await Promise.race([prepared(config, process.stdout, how), stopped]);
  if (!app) return EXIT.clean;
  const { web, shutdownTimeoutMs } = config;
  try {
    // A name server or a disk that hangs may hold up the start for long.
    await Promise.race([app.start(), stopped]);
  } catch (error) {
    const address = `${web.host ?? ''}:${web.port}`;
    process.stderr.write(
      `listening on ${address}: ${asError(error).message}; choose another address with LISTEN_ADDRESS\n`,
    );
    await app.stop();
    return EXIT.failure;
  }
  await stopped;
  const deadline = systemClock.monotonic() + shutdownTimeoutMs;
  await app.stop();
  // A name that is being looked up for a poll that was given up is waited for as long as there is time.
  await threadsAtRest(systemClock, deadline);
  return EXIT.clean;
}

/** The program, built, with its log lines going to `out`. */
export async function prepared(
  config: Config,
  out: NodeJS.WriteStream,
  how: Pick<Environment, 'notice'> = {},
): Promise<App> {
  // Every poll under way hears of the stop by one signal: above ten, by default, Node would call that a leak.
  const inFlight = askedUpstreams(config).map(
    ({ upstream, settings }) => upstream.target(settings, config).concurrency,
  );
  setMaxListeners(4 * inFlight.reduce((sum, count) => sum + count, 0) + 20);
  const log = createLog(config.log.level, await logDestination(config.log, out));
  tellDefects(log);
  const guard = await readGuard(config.web, webFiles.read, factsOf);
  for (const line of config.warnings) log.warn(line);
  await warnOfLooseFiles(ownFiles(config, guard), factsOf, log);
  for (const reason of certificateWarnings(guard, systemClock.now() / 1000)) {
    log.warn({ reason }, 'clients will reject the server certificate');
  }
  return createApp(config, { ...systemEnvironment(log), ...how }, guard);
}

function tellDefects(log: Log): void {
  process.on('unhandledRejection', (reason) => {
    log.error({ err: asError(reason) }, 'internal error: unhandled rejection; please report');
  });
  process.on('uncaughtException', (error) => {
    // By the log, and not by Node: that prints whatever hangs on an error, such as the headers of a request.
    log.error({ err: asError(error) }, 'internal error: uncaught exception; stopping; please report');
    endNow(EXIT.failure);
  });
}
