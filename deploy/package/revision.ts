import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

/* Which commit a package is made from. `revision.ts` writes it into the built program, as `npm pack` needs it. */

const top = fileURLToPath(new URL('../..', import.meta.url));

/** What the program reads its revision from, and what stands there instead in a package. */
export const stamp: Readonly<Record<string, string>> = {
  'process.env.FILER_EXPORTER_REVISION': JSON.stringify(revision()),
};

function revision(): string {
  try {
    return execFileSync('git', ['rev-parse', 'HEAD'], { cwd: top, encoding: 'utf8', stdio: 'pipe' }).trim();
  } catch {
    return 'unknown';
  }
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const path = `${top}dist/cli/process.js`;
  let text = readFileSync(path, 'utf8');
  for (const [read, value] of Object.entries(stamp)) {
    if (!text.includes(read)) throw new Error(`${path}: expected ${read} in it; build it first`);
    text = text.replaceAll(read, value);
  }
  writeFileSync(path, text);
}
