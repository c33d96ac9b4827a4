import { spawnSync } from 'node:child_process';
import { chmodSync, existsSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { certificatePath } from '../harness/certificates.ts';
import { gfaOnly } from '../harness/load-config.ts';
import { realServices } from '../harness/real-services.ts';
import { spawnExporter } from '../harness/spawn-exporter.ts';
import { temporaryDirectory } from '../harness/temporary-directory.ts';
import { until } from '../harness/until.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
const main = join(root, 'dist/main.js');

test('a .env that everybody can write is not used, and is exit 78', async () => {
  const folder = temporaryDirectory();
  writeFileSync(join(folder, '.env'), 'GFA_TOKEN=canary');
  chmodSync(join(folder, '.env'), 0o666);
  const { code, stdout, stderr } = await spawnExporter(['--check-config'], gfaOnly, folder).ended;
  expect({ code, stdout }).toEqual({ code: 78, stdout: '' });
  expect(stderr).toBe(
    '.env: not used, because .env is writable by other users than its owner (mode 0666); expected 0640 or stricter\n',
  );
});

test('a state file that is a folder stops the start, and is exit 78', async () => {
  const { code, stderr } = await spawnExporter([], { ...gfaOnly, STATE_FILE: tmpdir() }).ended;
  expect(code).toBe(78);
  expect(stderr).toMatch(/^STATE_FILE: /);
});

test('--once prints the exposition and nothing else on stdout, with a client key of its own', async () => {
  const { services, variables } = await realServices({ appliances: 2 });
  const { code, stdout } = await spawnExporter(['--once'], variables).ended;
  expect(code).toBe(0);
  expect(stdout).toMatch(/^# HELP /);
  expect(stdout).toContain('filer_api_up{api="portal"} 1');
  expect(stdout).toMatch(/filer_appliance_up\{.*\} 1/);
  const [data] = services.requests(/^\/data/);
  expect(data?.headers['x-service-client-key']).not.toBe('filer-exporter');
});

test('--once is exit 1 if nothing could be polled', async () => {
  const { services, variables } = await realServices();
  services.fail({ status: 403 });
  expect((await spawnExporter(['--once'], variables).ended).code).toBe(1);
});

test('--doctor --demo finds nothing wrong, also with certificate authorities of its own', async () => {
  const env = { NODE_EXTRA_CA_CERTS: certificatePath('authority.crt') };
  const { code, stdout } = await spawnExporter(['--doctor', '--demo'], env).ended;
  expect(stdout).not.toMatch(/^ +failure/m);
  expect(code).toBe(0);
});

test.skipIf(!existsSync('/dev/full'))('output to a full disk is exit 1, and says so', () => {
  const { status, stderr } = spawnSync('sh', ['-c', `exec "${process.execPath}" "${main}" --help >/dev/full`], {
    encoding: 'utf8',
  });
  expect(status).toBe(1);
  expect(stderr).toContain('writing to standard output failed (ENOSPC)');
});

test('--demo serves a live fleet without any configuration, and reads no .env', async () => {
  const folder = temporaryDirectory();
  writeFileSync(join(folder, '.env'), 'GFA_URL=https://real.example.com/v1\nGFA_TOKEN=real\n');
  const program = spawnExporter(['--demo'], {}, folder);
  const url = await program.serving();
  const scrape = async () => (await fetch(`${url}/metrics`)).text();
  await until('both services to be up', async () => (await scrape()).match(/^filer_api_up\{.*\} 1$/gm)?.length === 2);
  expect(await (await fetch(`${url}/status`)).text()).toContain('This is the demo.');
  program.process.kill('SIGTERM');
  expect(await program.ended).toMatchObject({ code: 0, stderr: '' });
});

test('npm start and npm run demo become the exporter, so that a signal to npm reaches it', () => {
  const { scripts } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as {
    scripts: Record<string, string>;
  };
  for (const name of ['start', 'demo']) expect(scripts[name]).toMatch(/(?:^| && )exec node dist\/main\.js/);
});
