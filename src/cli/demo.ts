import type { Config } from '../config/config.ts';
import type { PageNotice } from '../pages/notice.ts';
import { systemClock } from '../runtime/clock.ts';
import { asError, ConfigError } from '../runtime/errors.ts';
import { load, type Variables, webFiles } from './load.ts';

/** What goes wrong in the simulated fleet: nothing, one appliance that is off, or much else too. */
export type DemoFailures = 'none' | 'one' | 'many';

/** Simulates the services while a command runs. `like` is the path of a doctor's report to imitate. */
export async function withDemo(
  variables: Variables,
  command: (config: Config, notice: PageNotice) => Promise<number>,
  { troubles = 'none', like }: { readonly troubles?: DemoFailures; readonly like?: string | undefined } = {},
): Promise<number> {
  // Loaded only when needed: normal operation has no simulated services.
  const { switchOffAppliance, demoEnvironment, demoNotice, demoVariations, startMockServices, variationsFromReport } =
    await import('../demo/demo.ts');
  const variations = demoVariations(like === undefined ? {} : variationsFromReport(await readReport(like)));
  const demo = await startMockServices({ clock: systemClock, variations, isCalm: troubles !== 'many' });
  if (troubles !== 'none') switchOffAppliance(demo);
  try {
    return await command(await load(demoEnvironment(variables, demo), noFile), demoNotice);
  } finally {
    await demo.close();
  }
}

async function readReport(path: string): Promise<unknown> {
  const expected = 'expected a report of --doctor --report';
  const text = await webFiles.read(path).catch((error: unknown) => {
    throw new ConfigError([`--like ${path}: ${asError(error).message}; ${expected}`]);
  });
  try {
    return JSON.parse(text);
  } catch {
    // The message of the parser quotes the file, which may be another one with secrets.
    throw new ConfigError([`--like ${path}: is not JSON; ${expected}`]);
  }
}

/** The demo must not read the `.env` of a real account. */
function noFile(path: string): Promise<never> {
  return Promise.reject(Object.assign(new Error(`${path}: the demo does not read this file`), { code: 'ENOENT' }));
}
