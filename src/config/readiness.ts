import { constants } from 'node:fs';
import { access, stat } from 'node:fs/promises';
import { dirname } from 'node:path';
import { errorCode } from '../runtime/errors.ts';
import type { Config } from './config.ts';
import type { ServiceSection } from './table.ts';

/**
 * These checks find what a valid configuration still lacks. `--check-config` makes all of them. The exporter only
 * checks the folder of the state file, because services reject placeholders and a full disk may recover.
 */

/** Matches what examples contain in the place of a secret. */
const PLACEHOLDER = /^(?:(?:replace|change)[-_ ]?(?:me|this)|your[-_ ].*|<.*>|x{3,}|secret|token|password|todo)$/i;

export function placeholderErrors({ secrets, shown }: Config, sections: readonly ServiceSection[]): readonly string[] {
  return sections
    .flatMap(({ rows }) => rows)
    .filter(({ name }) => shown[name] !== undefined && PLACEHOLDER.test(secrets.get(name)?.reveal() ?? ''))
    .map(({ name }) => `${name}: is the placeholder of an example; expected the value that the service issued`);
}

export async function stateFolderErrors(path: string | undefined): Promise<readonly string[]> {
  if (path === undefined) return [];
  const folder = dirname(path);
  try {
    if ((await stat(folder)).isDirectory()) return [];
  } catch (error) {
    if (!['ENOENT', 'ENOTDIR'].includes(errorCode(error) ?? '')) return [];
  }
  return [`STATE_FILE: the folder ${folder} does not exist; create it, writable for the exporter’s user`];
}

export async function stateFileErrors(path: string | undefined): Promise<readonly string[]> {
  const missing = await stateFolderErrors(path);
  if (path === undefined || missing.length > 0) return missing;
  const folder = dirname(path);
  try {
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
