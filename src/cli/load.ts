import { type Config, secretTexts } from '../config/config.ts';
import { DOTENV, mergeDotenv } from '../config/dotenv.ts';
import { loadConfig } from '../config/load.ts';
import { systemClock } from '../runtime/clock.ts';
import { asError } from '../runtime/errors.ts';
import { createMasker } from '../runtime/masking.ts';
import { smallFileReader } from '../runtime/small-files.ts';
import { services } from '../services/services.ts';

export type Variables = Readonly<Record<string, string | undefined>>;

const serviceSections = services.map(({ section }) => section);

/** Reads `.env`, secrets, certificates and the web configuration. A file of certificate authorities may be large. */
export const readFile = smallFileReader(systemClock, 1024 * 1024);

/** Returns the names of the variables that are set, in the environment or in `.env`. */
export async function variablesSet(environment: Variables): Promise<ReadonlySet<string>> {
  const content = await readFile(DOTENV).catch(asError);
  return new Set(mergeDotenv(environment, content).texts.keys());
}

/** Rejects with a ConfigError if the configuration is invalid. */
export function load(environment: Variables, readText = readFile): Promise<Config> {
  return loadConfig(environment, serviceSections, readText);
}

export function lineMask(config: Config): (line: string) => string {
  return createMasker(() => secretTexts(config));
}
