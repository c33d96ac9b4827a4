import type { Config } from '../config/config.ts';
import { systemClock } from '../runtime/clock.ts';
import { configuredServices } from '../services/services.ts';
import { EXIT } from './arguments.ts';
import { abortOn, type CommandContext } from './command-context.ts';
import { print } from './output.ts';
import { prepareApp } from './serve.ts';

/** Polls everything once and prints the exposition; log lines go to stderr, so that stdout contains only metrics. */
export async function once(config: Config, context: CommandContext): Promise<number> {
  const { stdout, stderr, stopped } = context;
  const app = await Promise.race([prepareApp(separated(config), stderr, context), stopped]);
  if (!app) return EXIT.failure;
  const { exposition, polled } = await app.once(abortOn(stopped));
  await app.stop();
  await print(exposition, stdout);
  return polled ? EXIT.clean : EXIT.failure;
}

/**
 * Separates this process from a running exporter: it takes none of its events, uses no state file, and sends no
 * history.
 */
function separated(config: Config): Config {
  const services = configuredServices(config).map(({ api, service, settings }) => {
    return [api, service.withOwnClientKey?.(settings, systemClock.now()) ?? settings] as const;
  });
  return { ...config, services: new Map(services), stateFile: undefined, remoteWrite: undefined };
}
