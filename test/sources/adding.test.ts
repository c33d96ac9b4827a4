import { execFileSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import process from 'node:process';
import { fileURLToPath } from 'node:url';
import { expect, onTestFinished, test } from 'vitest';

const root = fileURLToPath(new URL('../../', import.meta.url));
const page = readFileSync(join(root, 'docs/architecture.md'), 'utf8');

/** Asks the copy: the samples of the new collector, its line of HELP, and what its name may be called. */
const ASK = `
import { startStandIn } from './src/demo/stand-in.ts';
import { systemClock } from './src/runtime/clock.ts';
import { run } from './src/cli/run.ts';
const standIn = await startStandIn({ clock: systemClock, appliances: 1 });
const environment = {
  PORTAL_URL: standIn.portalUrl, PORTAL_USER_KEY: standIn.credentials.userKey, PORTAL_COLLECTORS: 'audit', LOG_LEVEL: 'silent',
};
const code = await run(['--once'], environment, new Promise(() => {}));
await standIn.close();
process.exit(code);
`;

test('the collector of docs/architecture.md is a file and a line, and its metric is on the page', () => {
  const [, path = '', source = ''] = /```ts\n\/\/ (src\/sources\/portal\/\S+)\n([\s\S]*?)```/.exec(page) ?? [];
  const directory = mkdtempSync(join(tmpdir(), 'filer-exporter-adding-'));
  onTestFinished(() => rmSync(directory, { recursive: true }));
  for (const name of ['src', 'package.json']) cpSync(join(root, name), join(directory, name), { recursive: true });
  symlinkSync(join(root, 'node_modules'), join(directory, 'node_modules'));
  mkdirSync(dirname(join(directory, path)), { recursive: true });
  writeFileSync(join(directory, path), source);
  const list = join(directory, 'src/sources/portal/collectors.ts');
  const before = readFileSync(list, 'utf8');
  writeFileSync(
    list,
    `import { audit } from './account/audit.ts';\n${before.replace('CollectorRow[] = [', 'CollectorRow[] = [\n  audit,')}`,
  );
  writeFileSync(join(directory, 'ask.ts'), ASK);
  const exposition = execFileSync(process.execPath, ['--import', 'tsx', 'ask.ts'], {
    cwd: directory,
    encoding: 'utf8',
  });
  expect(exposition).toContain('# HELP filer_audit_records Records of the audit trail that the portal holds.\n');
  expect(exposition).toMatch(/^filer_audit_records [1-9]\d*$/m);
});
