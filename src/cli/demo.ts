import type { Config } from '../config/config.ts';
import type { PageNotice } from '../pages/notice.ts';
import { systemClock } from '../runtime/clock.ts';
import { asError, ConfigError } from '../runtime/errors.ts';
import { load, type Variables, webFiles } from './configuration.ts';

/** Simulates the services during a command. `like`: a doctor's report. `isTroubled`: one of their appliances fails. */
export async function withDemo(
  variables: Variables,
  like: string | undefined,
  command: (config: Config, notice: PageNotice) => Promise<number>,
  isTroubled = false,
): Promise<number> {
  // Loaded only when needed: normal operation has no simulated services.
  const { causeTrouble, demoEnvironment, demoNotice, startDemo, variationsLike } = await import('../demo/demo.ts');
  const demo = await startDemo(systemClock, like === undefined ? {} : variationsLike(await readReport(like)));
  if (isTroubled) causeTrouble(demo);
  try {
    return await command(await load(demoEnvironment(variables, demo), noFile), demoNotice);
  } finally {
    await demo.close();
  }
}

async function readReport(path: string): Promise<unknown> {
  try {
    return JSON.parse(await webFiles.read(path));
  } catch (error) {
    throw new ConfigError([`--like ${path}: ${asError(error).message}; expected a report of --doctor --report`]);
  }
}

/** The demo must not read the `.env` of a real account. */
function noFile(path: string): Promise<never> {
  return Promise.reject(Object.assign(new Error(`${path}: the demo does not read this file`), { code: 'ENOENT' }));
}
