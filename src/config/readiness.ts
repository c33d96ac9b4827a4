import { constants } from 'node:fs';
import { access, stat } from 'node:fs/promises';
import { dirname } from 'node:path';
import { Secret } from '../runtime/secret.ts';
import type { Config } from './config.ts';
import { codeOf } from './environment.ts';
import type { ServiceSection } from './section.ts';

/**
 * Finds what a readable configuration still lacks: for `--check-config`, which may take its time. The exporter itself
 * starts without these checks, because a folder may be created later and the service rejects a placeholder.
 */

/** Values of secrets in examples. */
const PLACEHOLDER = /^(?:(?:replace|change)[-_ ]?(?:me|this)|your[-_ ].*|<.*>|x{3,}|secret|token|password|todo)$/i;

/** A line for each secret that is still the placeholder of an example. Does not show the secret. */
export function placeholderFaults(
  { services }: Pick<Config, 'services'>,
  sections: readonly ServiceSection[],
): readonly string[] {
  return sections.flatMap(({ api }) =>
    secretsIn(services.get(api)).map(
      (place) => `${api}: ${place} is a placeholder of an example; expected the value that the service issued`,
    ),
  );
}

/** The places of secrets that are placeholders, such as `credentials.key`. */
function secretsIn(value: unknown, place = ''): readonly string[] {
  if (value instanceof Secret) return PLACEHOLDER.test(value.reveal()) ? [place] : [];
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([name, inner]) => secretsIn(inner, place === '' ? name : `${place}.${name}`));
}

/** What prevents the state file from being written; empty without a state file. */
export async function stateFileFaults(path: string | undefined): Promise<readonly string[]> {
  if (path === undefined) return [];
  const folder = dirname(path);
  try {
    if (!(await stat(folder)).isDirectory()) return [`STATE_FILE: ${folder} is not a folder; create it`];
    await access(folder, constants.W_OK);
  } catch (error) {
    return [`STATE_FILE: the folder ${folder} is not writable (${codeOf(error)}); expected a writable folder`];
  }
  const file = await stat(path).catch(() => undefined);
  return file === undefined || file.isFile()
    ? []
    : [`STATE_FILE: ${path} exists and is not a file; expected a file or an unused path`];
}
