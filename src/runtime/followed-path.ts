import { constants, type Stats } from 'node:fs';
import { lstat, open, readlink } from 'node:fs/promises';
import { dirname, join, parse, resolve, sep } from 'node:path';
import process from 'node:process';
import { buffer } from 'node:stream/consumers';

/** The code of the error for a link of a user other than root and the exporter's user. */
export const FOREIGN_LINK = 'a link of another user';

/** Linux follows as many links. */
const MAX_LINKS = 40;

/** The file to which a path leads. */
export interface FollowedPath {
  /** The path without links. */
  readonly path: string;
  /** The first folder on the way in which users other than root and the exporter's user can replace files of others. */
  readonly openFolder: string | undefined;
  /** Whether every user can create files in the last folder. */
  readonly isShared: boolean;
}

/**
 * Follows each link of a path itself, because a link of another user may lead to a file that only the exporter can read.
 * Rejects with an error with a `code` for such a link. As long as no other user can change the folders, the path still
 * leads to the same file when it is opened.
 */
export async function followPath(given: string): Promise<FollowedPath> {
  const absolute = resolve(given);
  let { root: path } = parse(absolute);
  const names = absolute.slice(path.length).split(sep);
  let openFolder: string | undefined;
  let isShared = false;
  for (let links = 0; ; ) {
    const name = names.shift();
    if (name === undefined) return { path, openFolder, isShared };
    const folder = await lstat(path);
    if (isOpenFolder(folder)) openFolder ??= path;
    isShared = (folder.mode & ALL_WRITE) !== 0;
    if (name === '' || name === '.') continue;
    const next = name === '..' ? dirname(path) : join(path, name);
    const stats = await lstat(next);
    if (!stats.isSymbolicLink()) {
      path = next;
      continue;
    }
    links += 1;
    if (isForeign(stats)) throw Object.assign(new Error(next), { code: FOREIGN_LINK });
    if (links > MAX_LINKS) throw Object.assign(new Error(next), { code: 'ELOOP' });
    const target = await readlink(next);
    const { root } = parse(target);
    if (root !== '') path = root;
    names.unshift(...target.slice(root.length).split(sep));
  }
}

/**
 * With these flags, a link that was created in the meantime is not followed, opening a named pipe does not wait for a
 * writer, and a terminal does not become the controlling terminal.
 */
const FLAGS = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK | constants.O_NOCTTY;

/** Reads a file to which a path leads, up to `maxBytes`, unless `check` throws when the file is open. */
export async function readFollowed(
  path: string,
  maxBytes: number,
  check: (stats: Stats, followed: FollowedPath) => void,
): Promise<Buffer> {
  const followed = await followPath(path);
  const file = await open(followed.path, FLAGS);
  try {
    check(await file.stat(), followed);
    return await buffer(file.createReadStream({ end: maxBytes - 1, autoClose: false }));
  } finally {
    await file.close();
  }
}

const ALL_WRITE = 0o002;
/** In a folder with this bit, users can replace and remove only their own files. */
const STICKY = 0o1000;

/** Whether users other than root and the exporter's user can replace files of others in this folder. */
function isOpenFolder(stats: Stats): boolean {
  return isForeign(stats) || (stats.mode & (ALL_WRITE | STICKY)) === ALL_WRITE;
}

/** Whether the file belongs neither to root nor to the exporter's user. */
export function isForeign({ uid }: Pick<Stats, 'uid'>): boolean {
  return uid !== 0 && uid !== (process.geteuid?.() ?? uid);
}
