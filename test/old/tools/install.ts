import { execSync } from 'node:child_process';
import { copyFileSync, existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const folder = fileURLToPath(new URL('.', import.meta.url));
const lock = join(folder, 'package-lock.json');
/** The lock file that the tools were installed from. */
const installed = join(folder, 'node_modules', '.installed-from.json');

/** Installs the tools of package.json, such as Helm and a browser driver, unless they are there already. */
export default function installTools(): void {
  if (existsSync(installed) && readFileSync(installed, 'utf8') === readFileSync(lock, 'utf8')) return;
  execSync('npm ci --no-audit --no-fund', { cwd: folder, stdio: 'inherit' });
  copyFileSync(lock, installed);
}
