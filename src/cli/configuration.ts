import type { Guard } from '../app/guard.ts';
import { variableRows } from '../catalog.ts';
import type { Config } from '../config/config.ts';
import type { OwnFile } from '../config/file-permissions.ts';
import { loadConfig } from '../config/load.ts';
import { readAhead } from '../config/read-ahead.ts';
import { systemClock } from '../runtime/clock.ts';
import { SmallFiles } from '../runtime/small-files.ts';
import { upstreams } from '../sources/upstreams.ts';

export type Variables = Readonly<Record<string, string | undefined>>;

export const serviceSections = upstreams.map(({ section }) => section);

/** For `.env`, and files with one secret. */
const secretFiles = new SmallFiles(systemClock, 64 * 1024);

/** For the web configuration, certificates and keys: a file of authorities may be large. */
export const webFiles = new SmallFiles(systemClock, 1024 * 1024);

export function readFiles(environment: Variables, readSecret = secretFiles.read) {
  return readAhead(environment, variableRows, { readSecret, readPem: webFiles.read });
}

export async function load(environment: Variables, readAgain = secretFiles.read): Promise<Config> {
  const { readFile } = await readFiles(environment, readAgain);
  return loadConfig({ environment, readFile, readAgain, services: serviceSections });
}

/** The files that only their owner may write. */
export function ownFiles(config: Config, guard: Guard | undefined): readonly OwnFile[] {
  return [...config.ownFiles, ...(guard?.first.rules.ownFiles ?? [])];
}
