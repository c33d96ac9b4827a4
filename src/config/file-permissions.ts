import process from 'node:process';
import type { Log } from '../runtime/log.ts';
import type { FileAccess } from '../runtime/small-files.ts';

/** A file that only its owner may write, and that others may not read if it contains a secret. */
export interface ProtectedFile {
  readonly path: string;
  readonly isSecret: boolean;
}

/** Returns who could access a file when it was read. */
export type AccessTo = (path: string) => FileAccess | undefined;

export function warnOfLooseFiles(files: readonly ProtectedFile[], accessTo: AccessTo, log: Log): void {
  for (const { reason } of findPermissiveFiles(files, accessTo))
    log.warn({ detail: reason }, 'A file was accessible to other users.');
}

interface PermissionError {
  /** What the operator has to correct. */
  readonly reason: string;
  /** Users other than root, the exporter's user and the owner's group can change the file, so its content cannot be trusted. */
  readonly isForeign: boolean;
}

/** Returns the files that others can read or change. A file that was not read has no entry. */
export function findPermissiveFiles(files: readonly ProtectedFile[], accessTo: AccessTo): readonly PermissionError[] {
  return files.flatMap((file) => {
    const access = accessTo(file.path);
    return (access && loosenessOf(file, access)) ?? [];
  });
}

const OTHERS_READ = 0o004;
const OTHERS_WRITE = 0o022;
const ALL_WRITE = 0o002;

/**
 * Returns what is too permissive about a file. The group may read it, so that a service's user can read what root owns.
 * Everyone may read a secret inside a container, because Kubernetes and Compose mount secrets with the mode 0444 or
 * 0644, and no other user sees them there.
 */
function loosenessOf({ path, isSecret }: ProtectedFile, access: FileAccess): PermissionError | undefined {
  const { mode, uid, path: realPath } = access;
  const shown = `mode ${(mode & 0o777).toString(8).padStart(4, '0')}`;
  if (mode & OTHERS_WRITE) {
    const reason = `${path} is writable by other users than its owner (${shown}); expected 0640 or stricter`;
    return { reason, isForeign: (mode & ALL_WRITE) !== 0 };
  }
  if (CONTAINER_SECRETS.test(realPath)) return undefined;
  const ownUid = process.geteuid?.() ?? uid;
  if (uid !== 0 && uid !== ownUid) {
    const reason = `${path} belongs to another user (${uid}); expected root or the user of the exporter (${ownUid})`;
    return { reason, isForeign: true };
  }
  if (!isSecret || !(mode & OTHERS_READ) || KUBERNETES_SECRETS.test(realPath)) return undefined;
  return { reason: `${path} is world-readable (${shown}); expected 0640 or stricter`, isForeign: false };
}

/** Docker's and Compose's folder for secrets, which keep the owner that they have outside. */
const CONTAINER_SECRETS = /^\/(?:var\/)?run\/secrets\//;
/** The dated folder that Kubernetes links `..data` to. */
const KUBERNETES_SECRETS = /\/\.\.\d{4}_\d\d_\d\d_\d\d_\d\d_\d\d\.\d+\//;
