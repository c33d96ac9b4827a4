import { realpath, stat } from 'node:fs/promises';
import process from 'node:process';
import type { Log } from '../runtime/log.ts';

/** A file that only its owner may write, and that others may not read if it contains a secret. */
export interface ProtectedFile {
  readonly path: string;
  readonly isSecret: boolean;
}

interface LooseFile {
  readonly path: string;
  /** What the operator has to correct. */
  readonly reason: string;
  /** Users other than root, the exporter's user and the owner's group can change the file, so its content cannot be trusted. */
  readonly isForeign: boolean;
}

export async function warnOfLooseFiles(files: readonly ProtectedFile[], log: Log): Promise<void> {
  for (const { reason } of await looseFiles(files)) {
    log.warn({ detail: reason }, 'A file was accessible to other users.');
  }
}

/** Returns the files that others can read or change. */
export async function looseFiles(files: readonly ProtectedFile[]): Promise<readonly LooseFile[]> {
  const found = await Promise.all(files.map((file) => loosenessOf(file).catch(() => undefined)));
  return found.filter((file) => file !== undefined);
}

const OTHERS_READ = 0o004;
const OTHERS_WRITE = 0o022;
const ALL_WRITE = 0o002;

/**
 * Docker's and Compose's folder for secrets, and the dated folder that Kubernetes links `..data` to: they keep the owner
 * and the mode that they have outside, and no other user sees them in the container.
 */
const CONTAINER_SECRETS = /^\/(?:var\/)?run\/secrets\/|\/\.\.\d{4}(?:_\d\d){5}\.\d+\//;

/** The group may read a file, so that a service's user can read what root owns. */
async function loosenessOf({ path, isSecret }: ProtectedFile): Promise<LooseFile | undefined> {
  const { mode, uid } = await stat(path);
  const shown = `mode ${(mode & 0o777).toString(8).padStart(4, '0')}`;
  if (mode & OTHERS_WRITE) {
    const reason = `${path} is writable by other users than its owner (${shown}); expected 0640 or stricter`;
    return { path, reason, isForeign: (mode & ALL_WRITE) !== 0 };
  }
  if (CONTAINER_SECRETS.test(await realpath(path))) return undefined;
  const ownUid = process.geteuid?.() ?? uid;
  if (uid !== 0 && uid !== ownUid) {
    const reason = `${path} belongs to another user (${uid}); expected root or the user of the exporter (${ownUid})`;
    return { path, reason, isForeign: true };
  }
  if (!isSecret || !(mode & OTHERS_READ)) return undefined;
  return { path, reason: `${path} is world-readable (${shown}); expected 0640 or stricter`, isForeign: false };
}
