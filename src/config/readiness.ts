import { constants } from 'node:fs';
import { access, stat } from 'node:fs/promises';
import { dirname } from 'node:path';
import { errorCode } from '../runtime/errors.ts';
import type { Config } from './config.ts';
import type { ServiceSection } from './section.ts';

/**
 * Finds what a readable configuration still lacks: for `--check-config`, which may take its time. The exporter itself
 * starts without these checks, because a folder may be created later and the service rejects a placeholder.
 */

/** Values of secrets in examples. */
const PLACEHOLDER = /^(?:(?:replace|change)[-_ ]?(?:me|this)|your[-_ ].*|<.*>|x{3,}|secret|token|password|todo)$/i;

export function placeholderFaults({ secrets, shown }: Config, sections: readonly ServiceSection[]): readonly string[] {
  return sections
    .flatMap(({ rows }) => rows)
    .filter(({ name }) => shown[name] !== undefined && PLACEHOLDER.test(secrets.get(name)?.reveal() ?? ''))
    .map(({ name }) => `${name}: is the placeholder of an example; expected the value that the service issued`);
}

export async function stateFileFaults(path: string | undefined): Promise<readonly string[]> {
  if (path === undefined) return [];
  const folder = dirname(path);
  try {
    if (!(await stat(folder)).isDirectory()) return [`STATE_FILE: ${folder} is not a folder; create it`];
    await access(folder, constants.W_OK);
  } catch (error) {
    return [
      `STATE_FILE: the folder ${folder} is not writable (${errorCode(error) ?? 'unknown reason'}); expected a writable folder`,
    ];
  }
  const file = await stat(path).catch(() => undefined);
  return file === undefined || file.isFile()
    ? []
    : [`STATE_FILE: ${path} exists and is not a file; expected a file or an unused path`];
}
