import type { Config } from '../config/config.ts';
import { DOTENV } from '../config/dotenv.ts';
import type { DemoTroubles } from '../demo/demo.ts';
import { systemClock } from '../runtime/clock.ts';
import type { ReadText } from '../runtime/small-files.ts';
import type { PageNotice } from '../web/pages/page.ts';
import type { CommandContext } from './command-context.ts';
import { load } from './load.ts';

/** Simulates the services while a command runs. */
export async function withDemo(
  context: CommandContext,
  troubles: DemoTroubles,
  command: (config: Config, notice: PageNotice) => Promise<number>,
): Promise<number> {
  // Loaded only when needed: normal operation has no simulated services.
  const { startDemo } = await import('../demo/demo.ts');
  const demo = await startDemo(systemClock, context.variables, troubles);
  const readFile = withoutDotenv(context.readFile);
  try {
    return await command(await load({ ...context, variables: demo.environment, readFile }), demo.notice);
  } finally {
    await demo.close();
  }
}

/** The demo must not read the `.env` of a real account. */
function withoutDotenv(readFile: ReadText): ReadText {
  return async (path) => {
    if (path !== DOTENV) return readFile(path);
    throw Object.assign(new Error(`${path}: the demo does not read this file`), { code: 'ENOENT' });
  };
}
