/** What there is to know of a file's permissions. */
export interface FileFacts {
  /** The nine bits and what is before them, as `stat` gives them. */
  readonly mode: number;
  /** With every link followed. */
  readonly realPath: string;
}

const OTHERS_READ = 0o004;
const OTHERS_WRITE = 0o022;

/**
 * What is too open about a secret's file, as a line for the operator; undefined where nothing is. Readable by the group
 * is fine: so a service's user reads what root owns. Readable by everybody is fine only where everybody is this container:
 * Kubernetes and Compose mount secrets with the mode 0444 or 0644 unless told otherwise, and nobody else sees them there.
 */
export function loosenessOf(path: string, { mode, realPath }: FileFacts): string | undefined {
  const shown = `mode ${(mode & 0o777).toString(8).padStart(4, '0')}`;
  if (mode & OTHERS_WRITE)
    return `${path} can be changed by others than its owner (${shown}); expected 0640 or stricter`;
  if (!(mode & OTHERS_READ) || isSecretMount(realPath)) return undefined;
  return `${path} can be read by everybody on this machine (${shown}); expected 0640 or stricter`;
}

/** Docker's and Compose's folder for secrets, and the dated folder that Kubernetes links `..data` to. */
function isSecretMount(realPath: string): boolean {
  return /^\/(?:var\/)?run\/secrets\//.test(realPath) || /\/\.\.\d{4}_\d\d_\d\d_\d\d_\d\d_\d\d\.\d+\//.test(realPath);
}
