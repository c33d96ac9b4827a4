import { setMaxListeners } from 'node:events';
import process from 'node:process';
import { type App, createApp } from '../app/app.ts';
import { stateFileErrors } from '../app/state-file.ts';
import type { Config } from '../config/config.ts';
import { systemClock, withTimeout } from '../runtime/clock.ts';
import { asError, ConfigError } from '../runtime/errors.ts';
import { exitNow, waitForThreads } from '../runtime/exit.ts';
import { createLog, type Log } from '../runtime/log.ts';
import type { PageNotice } from '../web/pages/page.ts';
import { readWebConfig } from '../web/web-config.ts';
import { EXIT } from './arguments.ts';
import type { CommandContext, Output } from './command-context.ts';
import { lineMask } from './load.ts';
import { logDestination } from './output.ts';
import { systemEnvironment } from './system-environment.ts';

/** How long the start waits for the disk with the state file. */
const DISK_WAIT_MS = 5_000;

export async function serve(config: Config, context: CommandContext, notice?: PageNotice): Promise<number> {
  const { stdout, stderr, stopped } = context;
  // This reads files, and a disk may hang; a stop must not wait for that.
  const app = await Promise.race([prepareApp(config, stdout, context, notice), stopped]);
  if (!app) return EXIT.clean;
  const { web, shutdownTimeoutMs } = config;
  try {
    // The start may take long if a name server or a disk hangs.
    await Promise.race([app.start(), stopped]);
  } catch (error) {
    const address = `${web.host ?? ''}:${web.port}`;
    stderr.write(`listening on ${address}: ${asError(error).message}; choose another address with LISTEN_ADDRESS\n`);
    await app.stop();
    return EXIT.failure;
  }
  const defect = await Promise.race([stopped, app.failed]);
  const deadline = systemClock.monotonic() + shutdownTimeoutMs;
  await app.stop();
  const code = defect === undefined ? EXIT.clean : EXIT.failure;
  // Node.js cannot exit while a name lookup of an aborted poll runs, so it is given the time that remains.
  await waitForThreads(systemClock, deadline);
  return systemClock.monotonic() < deadline ? code : exitNow(code);
}

/** Prepares the program to run; its log lines go to `out`. */
export async function prepareApp(
  config: Config,
  out: Output,
  { readFile }: CommandContext,
  notice?: PageNotice,
): Promise<App> {
  // One signal stops every poll in flight: with more than ten listeners Node would warn of a leak.
  setMaxListeners(0);
  const log = createLog(config.log.level, await logDestination(config.log, out), lineMask(config));
  logUncaughtErrors(log);
  // The exporter polls although the disk hangs.
  const late = () => new Error('the disk hangs');
  const looked = withTimeout(stateFileErrors(config.stateFile), systemClock, DISK_WAIT_MS, late);
  const errors = await looked.catch(() => []);
  if (errors.length > 0) throw new ConfigError(errors);
  const webConfig = await readWebConfig(config.web.configFile, readFile);
  return createApp(config, { ...systemEnvironment(log), notice }, webConfig);
}

function logUncaughtErrors(log: Log): void {
  const advice = 'report this line to the maintainers of the exporter';
  process.on('unhandledRejection', (reason) => {
    log.error({ err: asError(reason), advice }, 'A defect was found: a rejection was not handled.');
  });
  process.on('uncaughtException', (error) => {
    // The program logs the error itself, because Node.js prints every property of it, such as request headers.
    log.error({ err: asError(error), advice }, 'The exporter stopped by a defect: an exception was not caught.');
    exitNow(EXIT.failure);
  });
}
