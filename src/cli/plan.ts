import process from 'node:process';
import { createApp } from '../app/app.ts';
import type { Config } from '../config/config.ts';
import { sizeOf } from '../planning/estimated-size.ts';
import { planText } from '../planning/plan-text.ts';
import { ConfigError } from '../runtime/errors.ts';
import { createLog } from '../runtime/log.ts';
import { configuredServices, services } from '../services/services.ts';
import { EXIT, type Options } from './arguments.ts';
import { loadWithWarnings, type Variables, variablesSet } from './load.ts';
import { abortOn, printLine, systemEnvironment } from './system-environment.ts';

/** Prints what the limits allow: for `--appliances` without any request, else for the account's inventory. */
export async function plan(options: Options, variables: Variables, stopped: Promise<void>): Promise<number> {
  const appliances = options.appliances === undefined ? undefined : applianceCount(options.appliances);
  const set = await variablesSet(variables);
  const planned = services.flatMap(({ section: { url }, planning }) =>
    planning?.fleet ? [{ url, fleet: planning.fleet }] : [],
  );
  const placeholders = planned.map(({ url, fleet }) => (set.has(url) ? {} : fleet.placeholder));
  const config = await loadWithWarnings(
    appliances === undefined ? variables : Object.assign({ ...variables }, ...placeholders),
  );
  const configured = configuredServices(config);
  if (!configured.some(({ service }) => service.planning?.fleet)) {
    const urls = planned.map(({ url }) => url).join(' and ');
    throw new ConfigError([`--plan: ${urls} is not set; configure the service, or give a number with --appliances`]);
  }
  const found = appliances ?? (await countAppliances(config, stopped));
  const fleets = configured.flatMap(({ service, settings }) => {
    return service.planning?.fleet?.plan(settings, found) ?? [];
  });
  const shares = configured.flatMap(({ service, settings }) => service.planning?.sampleCounts(settings) ?? []);
  const unplanned = services
    .filter(({ planning }) => planning?.fleet === undefined)
    .map(({ title, section }) => [title, section.of(config) === undefined ? 'not polled' : 'counted below'] as const);
  for (const fleet of fleets) {
    printLine(planText(fleet, sizeOf(shares, config.events, found), unplanned));
  }
  return fleets.every((fleet) => fleet.plan.fits) ? EXIT.clean : EXIT.failure;
}

function applianceCount(text: string): number {
  if (/^[1-9]\d{0,6}$/.test(text)) return Number(text);
  throw new ConfigError([`--appliances: ${text} is not a number of appliances; expected 1 to 9999999`]);
}

async function countAppliances(config: Config, stopped: Promise<void>): Promise<number> {
  const app = createApp(configuredServices(config), config, systemEnvironment(createLog('silent', process.stderr)));
  try {
    return await app.countAppliances(abortOn(stopped));
  } finally {
    await app.stop();
  }
}
