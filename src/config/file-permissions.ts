import { realpath, stat } from 'node:fs/promises';
import process from 'node:process';

/** A file that only its owner may write, and that others may not read if it contains a secret. */
export interface OwnFile {
  readonly path: string;
  readonly isSecret: boolean;
}

export interface LooseFile {
  /** What the operator has to correct. */
  readonly reason: string;
  /** Whether every user, or a user who is neither root nor that of the exporter, can change the file. */
  readonly isForeign: boolean;
}

const OTHERS_READ = 0o004;
const OTHERS_WRITE = 0o022;
const ALL_WRITE = 0o002;

/**
 * Docker's and Compose's folder for secrets, and the dated folder that Kubernetes links `..data` to: they keep the owner
 * and the mode that they have outside, and no other user sees them in the container.
 */
const CONTAINER_SECRETS = /^\/(?:var\/)?run\/secrets\/|\/\.\.\d{4}(?:_\d\d){5}\.\d+\//;

/**
 * What other users may do with the file although they should not; undefined if nothing, or if the file cannot be examined. The
 * group may read it.
 */
export async function looseness({ path, isSecret }: OwnFile): Promise<LooseFile | undefined> {
  const [file, realPath] = await Promise.all([stat(path), realpath(path)]).catch(() => []);
  if (file === undefined || realPath === undefined) return undefined;
  const { mode, uid } = file;
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
  if (!isSecret || !(mode & OTHERS_READ)) return undefined;
  return { reason: `${path} is world-readable (${shown}); expected 0640 or stricter`, isForeign: false };
}
