import type { Config } from '../config/config.ts';
import { DOTENV } from '../config/dotenv.ts';
import type { DemoTroubles } from '../demo/demo.ts';
import { systemClock } from '../runtime/clock.ts';
import type { PageNotice } from '../web/pages/page.ts';
import { load, readFile, type Variables } from './load.ts';

/** Simulates the services while a command runs. */
export async function withDemo(
  variables: Variables,
  troubles: DemoTroubles,
  command: (config: Config, notice: PageNotice) => Promise<number>,
): Promise<number> {
  // Loaded only when needed: normal operation has no simulated services.
  const { startDemo } = await import('../demo/demo.ts');
  const demo = await startDemo(systemClock, variables, troubles);
  try {
    return await command(await load(demo.environment, readWithoutDotenv), demo.notice);
  } finally {
    await demo.close();
  }
}

/** The demo must not read the `.env` of a real account. */
function readWithoutDotenv(path: string): Promise<string> {
  if (path !== DOTENV) return readFile(path);
  return Promise.reject(Object.assign(new Error(`${path}: the demo does not read this file`), { code: 'ENOENT' }));
}
