import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
} from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** The top of the repository. */
export const root = fileURLToPath(new URL('../..', import.meta.url));

const source = join(root, 'src');
const cache = join(root, 'node_modules', '.cache', 'filer exporter');

/** Builds of earlier sources are removed after so long, in milliseconds: somebody else's tests may still run them. */
const BUILD_KEPT_MS = 3_600_000;

/** The program as it is built from the sources of this moment. */
export function builtMain(): string {
  return mainOf((folder) => {
    const compiler = join(root, 'node_modules', 'typescript', 'bin', 'tsc');
    // Types are checked by `npm run check`; here they would only cost time.
    execFileSync(process.execPath, [compiler, '-p', source, '--noCheck', '--outDir', folder]);
  });
}

/** Keeps what `npm run build` has just built, so that {@link builtMain} need not build it again. */
export function keepBuild(): void {
  mainOf((folder) => cpSync(join(root, 'dist'), folder, { recursive: true }));
}

/**
 * The program in a folder that is named by its sources, so that no build comes in between while it runs, and with a blank in
 * its path, where many an installation has one. `fill` puts the program into a folder if there is none of these sources.
 */
function mainOf(fill: (folder: string) => void): string {
  const home = join(cache, hashOf(source));
  const main = join(home, 'dist', 'main.js');
  if (existsSync(home)) return main;
  mkdirSync(cache, { recursive: true });
  for (const name of readdirSync(cache)) {
    const path = join(cache, name);
    if (Date.now() - (statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? 0) > BUILD_KEPT_MS) {
      rmSync(path, { recursive: true, force: true });
    }
  }
  const fresh = mkdtempSync(join(cache, 'building-'));
  fill(join(fresh, 'dist'));
  cpSync(join(root, 'package.json'), join(fresh, 'package.json'));
  try {
    renameSync(fresh, home);
  } catch {
    // Another test file was quicker, with the same sources.
    rmSync(fresh, { recursive: true, force: true });
  }
  return main;
}

function hashOf(folder: string): string {
  const hash = createHash('sha256');
  const entries = readdirSync(folder, { recursive: true, encoding: 'utf8' }).toSorted();
  for (const path of entries.map((entry) => join(folder, entry))) {
    if (statSync(path).isFile()) hash.update(path).update(readFileSync(path));
  }
  return hash.digest('hex').slice(0, 16);
}
