import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

/* Writes the commit that a package is made from into the built program, because `npm pack` has no environment. */

const top = fileURLToPath(new URL('../..', import.meta.url));
const READ = 'process.env.FILER_EXPORTER_REVISION';

/** Returns a file of the program with the revision in place of the environment variable that it would read. */
export function stamped(text: string): string {
  return text.replaceAll(READ, () => JSON.stringify(revision()));
}

function revision(): string {
  try {
    return execFileSync('git', ['rev-parse', 'HEAD'], { cwd: top, encoding: 'utf8', stdio: 'pipe' }).trim();
  } catch {
    return 'unknown';
  }
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const path = `${top}dist/cli/system-environment.js`;
  writeFileSync(path, stamped(readFileSync(path, 'utf8')));
}
