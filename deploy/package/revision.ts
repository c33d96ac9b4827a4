import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

/*
 * Before `npm pack`: writes the commit that the package is made from into the built program, in place of the environment
 * variable that the image sets.
 */

const top = fileURLToPath(new URL('../..', import.meta.url));
const program = `${top}dist/cli/system-environment.js`;

function revision(): string {
  try {
    return execFileSync('git', ['rev-parse', 'HEAD'], { cwd: top, encoding: 'utf8', stdio: 'pipe' }).trim();
  } catch {
    return 'unknown';
  }
}

const text = readFileSync(program, 'utf8');
writeFileSync(
  program,
  text.replaceAll('process.env.FILER_EXPORTER_REVISION', () => JSON.stringify(revision())),
);
