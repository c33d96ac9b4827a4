import process from 'node:process';
import type { WebConfigFile } from '../app/web-access.ts';
import { variableRows } from '../catalog.ts';
import type { Config } from '../config/config.ts';
import { DOTENV, mergeDotenv } from '../config/dotenv.ts';
import { type AccessTo, findPermissiveFiles, type ProtectedFile } from '../config/file-permissions.ts';
import { loadConfig } from '../config/load.ts';
import { secretTexts } from '../config/secret-texts.ts';
import { systemClock } from '../runtime/clock.ts';
import { asError, ConfigError } from '../runtime/errors.ts';
import { createMasker } from '../runtime/masking.ts';
import { SmallFileReader } from '../runtime/small-files.ts';
import { services } from '../services/services.ts';

export type Variables = Readonly<Record<string, string | undefined>>;

export const serviceSections = services.map(({ section }) => section);

/** Reads `.env` and files that contain one secret. */
const secretFiles = new SmallFileReader(systemClock, 64 * 1024);

/** Reads the web configuration, certificates and keys; a file of certificate authorities may be large. */
export const webFiles = new SmallFileReader(systemClock, 1024 * 1024);

/** Returns who could read and change a file when it was last read. */
export const accessTo: AccessTo = (path) => secretFiles.accessTo(path) ?? webFiles.accessTo(path);

/** Returns the names of the variables that are set, in the environment or in `.env`. */
export async function variablesSet(environment: Variables): Promise<ReadonlySet<string>> {
  const content = await secretFiles.read(DOTENV).catch(asError);
  return new Set(mergeDotenv(environment, content, variableRows).texts.keys());
}

/**
 * Rejects with a ConfigError if the configuration is invalid, or if other users can change `.env`, which decides where
 * secrets are sent.
 */
export async function load(environment: Variables, readSecret = secretFiles.read): Promise<Config> {
  const config = await loadConfig(environment, serviceSections, { readSecret, readPem: webFiles.read });
  const loose = findPermissiveFiles(
    config.ownFiles.filter(({ path }) => path === DOTENV),
    accessTo,
  );
  const foreign = loose.filter(({ isForeign }) => isForeign);
  if (foreign.length > 0) throw new ConfigError(foreign.map(({ reason }) => `${DOTENV}: not used, because ${reason}`));
  return config;
}

/** Loads the configuration for a command, which prints warnings to stderr. */
export async function loadWithWarnings(environment: Variables): Promise<Config> {
  const config = await load(environment);
  const loose = findPermissiveFiles(config.ownFiles, accessTo).map(({ reason }) => reason);
  for (const line of [...config.warnings, ...loose]) process.stderr.write(`warning: ${line}\n`);
  return config;
}

export function ownFiles(config: Config, guard: WebConfigFile | undefined): readonly ProtectedFile[] {
  return [...config.ownFiles, ...(guard?.first.rules.ownFiles ?? [])];
}

export function lineMask(config: Config): (line: string) => string {
  return createMasker(() => secretTexts(config));
}
