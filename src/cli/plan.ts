import process from 'node:process';
import { createApp } from '../app/app.ts';
import { upstreamCatalog, variableRows } from '../catalog.ts';
import type { Config } from '../config/config.ts';
import { readAhead } from '../config/read-ahead.ts';
import { sizeOf } from '../planning/size.ts';
import { planText } from '../planning/text.ts';
import { ConfigError } from '../runtime/errors.ts';
import { createLog } from '../runtime/log.ts';
import { configuredUpstreams, upstreams } from '../sources/upstreams.ts';
import { EXIT } from './arguments.ts';
import { load, secretFiles, type Variables } from './configuration.ts';
import { say, systemEnvironment } from './process.ts';

/**
 * Prints what the limits allow: for the given number of appliances without any request, else for the account's
 * inventory.
 */
export async function plan(
  appliances: number | undefined,
  variables: Variables,
  stopped: Promise<void>,
): Promise<number> {
  const { texts } = await readAhead(variables, variableRows, secretFiles.read);
  const planned = upstreams.flatMap(({ section, planning }) => (planning ? [{ section, planning }] : []));
  const urls = planned.map(({ section }) => section.url);
  const missing = planned.filter(({ section }) => !texts.has(section.url));
  const placeholders = missing.map(({ planning }) => planning.placeholder);
  const config = await load(appliances === undefined ? variables : Object.assign({ ...variables }, ...placeholders));
  const asked = configuredUpstreams(config).flatMap(({ upstream: { planning }, settings }) =>
    planning ? [{ settings, planning }] : [],
  );
  if (asked.length === 0) {
    const help = 'configure the service, or give a number with --appliances';
    throw new ConfigError([`--plan: ${urls.join(' and ')} is not set; ${help}`]);
  }
  const found = appliances ?? (await countAppliances(config, stopped));
  const fleets = asked.map(({ settings, planning }) => planning.forFleet(settings, found, config.shard.total));
  const shares = configuredUpstreams(config).flatMap(({ upstream, settings }) => upstream.size?.(settings) ?? []);
  const beside = upstreams
    .filter(({ planning }) => planning === undefined)
    .map(({ title, section }) => [title, section.of(config) === undefined ? 'not polled' : 'counted below'] as const);
  for (const fleet of fleets) {
    say(planText(fleet, await sizeOf(fleet, shares, config.events, upstreamCatalog), beside));
  }
  return fleets.every((fleet) => fleet.plan.fits) ? EXIT.clean : EXIT.failure;
}

async function countAppliances(config: Config, stopped: Promise<void>): Promise<number> {
  const app = createApp(config, systemEnvironment(createLog('silent', process.stderr)));
  let ended: Promise<void> | undefined;
  const stop = () => {
    ended ??= app.stop();
    return ended;
  };
  // Requests in flight are aborted then.
  void stopped.then(stop);
  try {
    return await app.countAppliances();
  } finally {
    await stop();
  }
}
