import process from 'node:process';
import type { WebConfigFile } from '../app/web-access.ts';
import { variableRows } from '../catalog.ts';
import { type Config, secretTexts } from '../config/config.ts';
import { DOTENV, mergeDotenv } from '../config/dotenv.ts';
import { looseFiles, type ProtectedFile } from '../config/file-permissions.ts';
import { loadConfig } from '../config/load.ts';
import { systemClock } from '../runtime/clock.ts';
import { asError, ConfigError } from '../runtime/errors.ts';
import { createMasker } from '../runtime/masking.ts';
import { smallFileReader } from '../runtime/small-files.ts';
import { services } from '../services/services.ts';

export type Variables = Readonly<Record<string, string | undefined>>;

export const serviceSections = services.map(({ section }) => section);

/** Reads `.env`, secrets, certificates and the web configuration. A file of certificate authorities may be large. */
export const readFile = smallFileReader(systemClock, 1024 * 1024);

/** Returns the names of the variables that are set, in the environment or in `.env`. */
export async function variablesSet(environment: Variables): Promise<ReadonlySet<string>> {
  const content = await readFile(DOTENV).catch(asError);
  return new Set(mergeDotenv(environment, content, variableRows).texts.keys());
}

/**
 * Rejects with a ConfigError if the configuration is invalid, or if other users can change `.env`, which decides where
 * secrets are sent.
 */
export async function load(environment: Variables, readText = readFile): Promise<Config> {
  const config = await loadConfig(environment, serviceSections, readText);
  const loose = await looseFiles(config.ownFiles);
  const foreign = loose.filter(({ path, isForeign }) => path === DOTENV && isForeign);
  if (foreign.length > 0) throw new ConfigError(foreign.map(({ reason }) => `${DOTENV}: not used, because ${reason}`));
  return config;
}

/** Loads the configuration for a command, which prints warnings to stderr. */
export async function loadWithWarnings(environment: Variables): Promise<Config> {
  const config = await load(environment);
  printWarnings([...config.warnings, ...(await looseFiles(config.ownFiles)).map(({ reason }) => reason)]);
  return config;
}

export function printWarnings(warnings: readonly string[]): void {
  for (const line of warnings) process.stderr.write(`warning: ${line}\n`);
}

export function ownFiles(config: Config, guard: WebConfigFile | undefined): readonly ProtectedFile[] {
  return [...config.ownFiles, ...(guard?.first.rules.ownFiles ?? [])];
}

export function lineMask(config: Config): (line: string) => string {
  return createMasker(() => secretTexts(config));
}
