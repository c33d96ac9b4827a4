import { realpath, stat } from 'node:fs/promises';
import { dirname } from 'node:path';
import process from 'node:process';
import type { Log } from '../runtime/log.ts';

/** A file that only its owner may write, and that others may not read if it contains a secret. */
export interface ProtectedFile {
  readonly path: string;
  readonly isSecret: boolean;
}

export async function warnOfLooseFiles(files: readonly ProtectedFile[], log: Log): Promise<void> {
  for (const { reason } of await findPermissiveFiles(files))
    log.warn({ reason }, 'file permissions are too permissive');
}

interface PermissionError {
  /** A line for the operator. */
  readonly reason: string;
  /** Users other than the owner's group, root and the exporter's can change the file: what it says cannot be trusted. */
  readonly isForeign: boolean;
}

/** The files with too permissive permissions; an unreadable one is none. Never rejects. */
export async function findPermissiveFiles(files: readonly ProtectedFile[]): Promise<readonly PermissionError[]> {
  const found = await Promise.all(files.map((file) => loosenessOf(file).catch(() => undefined)));
  return found.filter((one) => one !== undefined);
}

const OTHERS_READ = 0o004;
const OTHERS_WRITE = 0o022;
const ALL_WRITE = 0o002;
/** In a folder with this bit each user may only replace and remove own files. */
const STICKY = 0o1000;

/**
 * What is too permissive about a file; undefined if nothing is. The group may read it, so that a service's user can read
 * what root owns. Everyone may read a secret if everyone is this container: Kubernetes and Compose mount secrets with the
 * mode 0444 or 0644 by default, and no one else sees them there.
 */
async function loosenessOf({ path, isSecret }: ProtectedFile): Promise<PermissionError | undefined> {
  const [{ mode, uid: owner }, realPath] = await Promise.all([stat(path), realpath(path)]);
  const { mode: folderMode } = await stat(dirname(realPath));
  const self = process.geteuid?.();
  const shown = `mode ${(mode & 0o777).toString(8).padStart(4, '0')}`;
  if (mode & OTHERS_WRITE) {
    const reason = `${path} is writable by other users than its owner (${shown}); expected 0640 or stricter`;
    return { reason, isForeign: (mode & ALL_WRITE) !== 0 };
  }
  if (isSecretMount(realPath)) return undefined;
  if (self !== undefined && owner !== 0 && owner !== self) {
    const expected = `expected root or the user of the exporter (${self})`;
    return { reason: `${path} belongs to another user (${owner}); ${expected}`, isForeign: true };
  }
  if (folderMode & ALL_WRITE && !(folderMode & STICKY)) {
    const reason = `${path} is in a world-writable folder; expected a folder that only its owner can write`;
    return { reason, isForeign: true };
  }
  if (!isSecret || !(mode & OTHERS_READ)) return undefined;
  return { reason: `${path} is world-readable (${shown}); expected 0640 or stricter`, isForeign: false };
}

/** Docker's and Compose's folder for secrets, and the dated folder that Kubernetes links `..data` to. */
function isSecretMount(realPath: string): boolean {
  return /^\/(?:var\/)?run\/secrets\//.test(realPath) || /\/\.\.\d{4}_\d\d_\d\d_\d\d_\d\d_\d\d\.\d+\//.test(realPath);
}
