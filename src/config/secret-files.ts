import type { Log } from '../runtime/log.ts';

/** What there is to know of a file's permissions. */
export interface FileFacts {
  /** The nine bits and what is before them, as `stat` gives them. */
  readonly mode: number;
  /** The number of the user that it belongs to. */
  readonly owner: number;
  /** With every link followed. */
  readonly realPath: string;
  /** Of the folder that the file itself is in. */
  readonly folderMode: number;
  /** The user of this process; undefined where the system has no such numbers. */
  readonly self: number | undefined;
}

/** Finds out about a file; undefined where it cannot be looked at, which is somebody else's line. Never rejects. */
export type FactsOf = (path: string) => Promise<FileFacts | undefined>;

/** A file that only its owner is to change, and that not everybody is to read where it holds a secret. */
export interface OwnFile {
  readonly path: string;
  readonly isSecret: boolean;
}

/** The lines about those of these files that are too open. Never rejects. */
export async function looseFiles(files: readonly OwnFile[], factsOf: FactsOf): Promise<readonly string[]> {
  const lines = files.map(async (file) => {
    const facts = await factsOf(file.path);
    return facts && loosenessOf(file, facts);
  });
  return (await Promise.all(lines)).filter((line) => line !== undefined);
}

/** Logs a warning for each of these files that is too open. Never rejects. */
export async function warnOfLooseFiles(files: readonly OwnFile[], factsOf: FactsOf, log: Log): Promise<void> {
  for (const reason of await looseFiles(files, factsOf)) log.warn({ reason }, 'file permissions are too permissive');
}

const OTHERS_READ = 0o004;
const OTHERS_WRITE = 0o022;
const ALL_WRITE = 0o002;
/** In such a folder each user may replace and remove what belongs to that user alone. */
const STICKY = 0o1000;

/**
 * What is too open about a file, as a line for the operator; undefined where nothing is. Readable by the group is fine:
 * so a service's user reads what root owns. A secret readable by everybody is fine where everybody is this container:
 * Kubernetes and Compose mount secrets with the mode 0444 or 0644 unless told otherwise, and nobody else sees them there.
 */
function loosenessOf({ path, isSecret }: OwnFile, facts: FileFacts): string | undefined {
  const { mode, owner, realPath, folderMode, self } = facts;
  const shown = `mode ${(mode & 0o777).toString(8).padStart(4, '0')}`;
  if (mode & OTHERS_WRITE)
    return `${path} can be changed by others than its owner (${shown}); expected 0640 or stricter`;
  if (isSecretMount(realPath)) return undefined;
  if (self !== undefined && owner !== 0 && owner !== self) {
    return `${path} belongs to another user (${owner}); expected root or the user of the exporter (${self})`;
  }
  if (folderMode & ALL_WRITE && !(folderMode & STICKY)) {
    return `${path} is in a folder that everybody can change; expected one that only its owner can`;
  }
  if (!isSecret || !(mode & OTHERS_READ)) return undefined;
  return `${path} can be read by everybody on this machine (${shown}); expected 0640 or stricter`;
}

/** Docker's and Compose's folder for secrets, and the dated folder that Kubernetes links `..data` to. */
function isSecretMount(realPath: string): boolean {
  return /^\/(?:var\/)?run\/secrets\//.test(realPath) || /\/\.\.\d{4}_\d\d_\d\d_\d\d_\d\d_\d\d\.\d+\//.test(realPath);
}
