import { realpath, stat } from 'node:fs/promises';
import { dirname } from 'node:path';
import process from 'node:process';
import type { Log } from '../runtime/log.ts';

/** A file that only its owner may write, and that others may not read if it contains a secret. */
export interface OwnFile {
  readonly path: string;
  readonly isSecret: boolean;
}

/** One line for each file with too permissive permissions; none for an unreadable one. Never rejects. */
export async function looseFiles(files: readonly OwnFile[]): Promise<readonly string[]> {
  const lines = await Promise.all(files.map((file) => loosenessOf(file).catch(() => undefined)));
  return lines.filter((line) => line !== undefined);
}

/** Never rejects. */
export async function warnOfLooseFiles(files: readonly OwnFile[], log: Log): Promise<void> {
  for (const reason of await looseFiles(files)) log.warn({ reason }, 'file permissions are too permissive');
}

const OTHERS_READ = 0o004;
const OTHERS_WRITE = 0o022;
const ALL_WRITE = 0o002;
/** In a folder with this bit each user may only replace and remove own files. */
const STICKY = 0o1000;

/**
 * What is too permissive about a file, as a line for the operator; undefined if nothing is. The group may read it, so
 * that a service's user can read what root owns. Everyone may read a secret if everyone is this container: Kubernetes
 * and Compose mount secrets with the mode 0444 or 0644 by default, and no one else sees them there.
 */
async function loosenessOf({ path, isSecret }: OwnFile): Promise<string | undefined> {
  const [{ mode, uid: owner }, realPath] = await Promise.all([stat(path), realpath(path)]);
  const { mode: folderMode } = await stat(dirname(realPath));
  const self = process.geteuid?.();
  const shown = `mode ${(mode & 0o777).toString(8).padStart(4, '0')}`;
  if (mode & OTHERS_WRITE)
    return `${path} is writable by other users than its owner (${shown}); expected 0640 or stricter`;
  if (isSecretMount(realPath)) return undefined;
  if (self !== undefined && owner !== 0 && owner !== self) {
    return `${path} belongs to another user (${owner}); expected root or the user of the exporter (${self})`;
  }
  if (folderMode & ALL_WRITE && !(folderMode & STICKY)) {
    return `${path} is in a world-writable folder; expected a folder that only its owner can write`;
  }
  if (!isSecret || !(mode & OTHERS_READ)) return undefined;
  return `${path} is world-readable (${shown}); expected 0640 or stricter`;
}

/** Docker's and Compose's folder for secrets, and the dated folder that Kubernetes links `..data` to. */
function isSecretMount(realPath: string): boolean {
  return /^\/(?:var\/)?run\/secrets\//.test(realPath) || /\/\.\.\d{4}_\d\d_\d\d_\d\d_\d\d_\d\d\.\d+\//.test(realPath);
}
