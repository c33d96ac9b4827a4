import { constants } from 'node:fs';
import { access, stat } from 'node:fs/promises';
import { dirname } from 'node:path';
import { Secret } from '../runtime/secret.ts';
import type { Config } from './config.ts';
import { codeOf } from './environment.ts';
import type { ServiceSection } from './section.ts';

/*
 * What a configuration that can be read lacks to work: for `--check-config`, which may take its time. The exporter itself
 * starts without it, for a folder may come later and a placeholder is refused by the service.
 */

/** What examples have in the place of a secret. */
const PLACEHOLDER = /^(?:(?:replace|change)[-_ ]?(?:me|this)|your[-_ ].*|<.*>|x{3,}|secret|token|password|todo)$/i;

/** A line for each secret that is still what an example has in its place. The secret itself is not shown. */
export function placeholderFaults(
  { services }: Pick<Config, 'services'>,
  sections: readonly ServiceSection[],
): readonly string[] {
  return sections.flatMap(({ api }) =>
    secretsIn(services.get(api)).map(
      (place) => `${api}: ${place} is a placeholder of an example; expected the one that the service has issued`,
    ),
  );
}

/** The places, such as `credentials.key`, of secrets that are placeholders. */
function secretsIn(value: unknown, place = ''): readonly string[] {
  if (value instanceof Secret) return PLACEHOLDER.test(value.reveal()) ? [place] : [];
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([name, inner]) => secretsIn(inner, place === '' ? name : `${place}.${name}`));
}

/** What keeps the state file from being written: none where there is no such file to keep. */
export async function stateFileFaults(path: string | undefined): Promise<readonly string[]> {
  if (path === undefined) return [];
  const folder = dirname(path);
  try {
    if (!(await stat(folder)).isDirectory()) return [`STATE_FILE: ${folder} is not a folder; expected one`];
    await access(folder, constants.W_OK);
  } catch (error) {
    return [`STATE_FILE: the folder ${folder} cannot be written to (${codeOf(error)}); expected one that can`];
  }
  const file = await stat(path).catch(() => undefined);
  return file === undefined || file.isFile() ? [] : [`STATE_FILE: ${path} is not a file; expected one, or none yet`];
}
