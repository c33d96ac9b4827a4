import { type Config, secretTexts } from '../config/config.ts';
import { DOTENV, mergeDotenv } from '../config/dotenv.ts';
import { looseness } from '../config/file-permissions.ts';
import { loadConfig } from '../config/load.ts';
import { asError, ConfigError } from '../runtime/errors.ts';
import { createMasker } from '../runtime/masking.ts';
import { services } from '../services/services.ts';
import type { CommandContext } from './command-context.ts';

const serviceSections = services.map(({ section }) => section);

/** Returns the names of the variables that are set, in the environment or in `.env`. */
export async function variablesSet({ variables, readFile }: CommandContext): Promise<ReadonlySet<string>> {
  const content = await readFile(DOTENV).catch(asError);
  return new Set(mergeDotenv(variables, content).texts.keys());
}

/**
 * Rejects with a ConfigError if the configuration is invalid, or if other users can change `.env`, which decides where
 * secrets are sent. Warns of files with secrets that other users can read or change.
 */
export async function load({ variables, readFile, stderr }: CommandContext): Promise<Config> {
  const config = await loadConfig(variables, serviceSections, readFile);
  for (const file of config.ownFiles) {
    const { reason, isForeign } = (await looseness(file)) ?? {};
    if (reason === undefined) continue;
    if (file.path === DOTENV && isForeign) throw new ConfigError([`${DOTENV}: not used, because ${reason}`]);
    stderr.write(`warning: ${reason}\n`);
  }
  return config;
}

export function lineMask(config: Config): (line: string) => string {
  return createMasker(() => secretTexts(config));
}
