import process from 'node:process';
import type { Config } from '../config/config.ts';
import { systemClock } from '../runtime/clock.ts';
import { configuredUpstreams } from '../sources/upstreams.ts';
import { EXIT } from './arguments.ts';
import { print, signalOf } from './process.ts';
import { prepared } from './serve.ts';

/** Polls everything once and prints the exposition; log lines go to stderr, so that stdout contains only metrics. */
export async function once(configured: Config, stopped: Promise<void>): Promise<number> {
  const app = await Promise.race([prepared(besideDaemon(configured), process.stderr), stopped]);
  if (!app) return EXIT.failure;
  const { exposition, polled } = await app.once(signalOf(stopped));
  await app.stop();
  await print(exposition);
  return polled ? EXIT.clean : EXIT.failure;
}

/** For a process beside a running exporter: it takes neither its events nor its state file, and sends nothing. */
function besideDaemon(config: Config): Config {
  const services = configuredUpstreams(config).map(({ api, upstream, settings }) => {
    return [api, upstream.besideDaemon?.(settings, systemClock.now()) ?? settings] as const;
  });
  return { ...config, services: new Map(services), stateFile: undefined, remoteWrite: undefined };
}
